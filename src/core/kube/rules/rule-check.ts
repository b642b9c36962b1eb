import type { Finding } from '../../finding.ts';
import type { Path } from '../../spec/problem.ts';
import type { Manifest } from '../manifest.ts';
import { dig, type Json } from '../object.ts';

export interface Adding {
  readonly error: (path: Path, says: string, next: string) => void;
  readonly warning: (path: Path, says: string, next: string) => void;
}

/** Collects what is found in one manifest, with positions. */
export class Check implements Adding {
  readonly findings: Finding[] = [];
  readonly manifest: Manifest;

  constructor(manifest: Manifest) {
    this.manifest = manifest;
  }

  readonly error: Adding['error'] = (path, says, next) => this.#add('error', path, says, next);
  readonly warning: Adding['warning'] = (path, says, next) => this.#add('warning', path, says, next);

  at(path: Path): Json | undefined {
    return dig(this.manifest.object, ...path);
  }

  #add(severity: Finding['severity'], path: Path, says: string, next: string): void {
    const { file } = this.manifest;
    this.findings.push({ severity, file, at: this.manifest.at(path), says, next });
  }
}
