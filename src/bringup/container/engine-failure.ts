import type { MantaError } from '../../base/errors.ts';
import { saysDiskFull } from '../../base/files/disk-full.ts';
import { bringupErrors } from '../errors.ts';

interface At {
  node: string;
  engine: string;
}

/** The error that the words of an engine mean. */
export function pullFailure(at: At & { image: string }, output: string): MantaError {
  const detail = lastLine(output);
  if (saysDiskFull(output)) return bringupErrors.ContainerNoSpace(at);
  const engine = engineFailure(at, output);
  if (engine) return engine;
  if (
    /unauthorized|authentication required|no basic auth|invalid username|incorrect username|403 forbidden|denied: |access to the resource is denied/i.test(
      output,
    ) &&
    !/pull access denied/i.test(output)
  )
    return bringupErrors.ContainerLoginRefused({ ...at, detail });
  if (
    /manifest unknown|not found|name unknown|does not exist|pull access denied|invalid reference format|short-name/i.test(
      output,
    )
  )
    return bringupErrors.ContainerImageNotFound({ ...at, detail });
  if (
    /connection refused|no such host|i\/o timeout|timed? ?out|network is unreachable|no route to host|connection reset|tls|x509|pinging container registry/i.test(
      output,
    )
  )
    return bringupErrors.ContainerRegistryUnreachable({ ...at, detail });
  return bringupErrors.ContainerPullFailed({ ...at, detail });
}

/** Undefined when the engine itself is well. */
export function engineFailure(at: At, output: string): MantaError | undefined {
  const detail = lastLine(output);
  if (/permission denied/i.test(output) && /docker daemon|docker\.sock|podman\.sock/i.test(output))
    return bringupErrors.ContainerEngineDenied({ ...at, detail });
  if (
    /cannot connect to the docker daemon|is the docker daemon running|failed to connect to the docker API|unable to connect to podman/i.test(
      output,
    )
  )
    return bringupErrors.ContainerEngineDown({ ...at, detail });
  return undefined;
}

/** The last thing that was said, without the engine's decorations. */
export function lastLine(output: string): string {
  const line =
    output
      .split(/[\r\n]+/)
      .filter((text) => text.trim() !== '' && !/^See '|^Run '/.test(text))
      .at(-1) ?? '';
  return line.trim().replace(/^(?:Error(?: response from daemon)?|docker|podman): /, '');
}
