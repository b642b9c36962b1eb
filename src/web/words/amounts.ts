import { ownValue } from '../../base/own-value.ts';
import type { Resources } from '../../core/resources.ts';

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** Resources whose amount is bytes. */
const inBytes = new Set(['memory', 'object_store_memory']);

/** Shown first, in this order; the others follow by name. */
const first = ['CPU', 'GPU', 'TPU', 'memory'];

export function countText(value: number): string {
  return whole.format(value);
}

/** `1 node`, `3 nodes`. */
export function counted(value: number, noun: string, plural = `${noun}s`): string {
  return `${countText(value)} ${value === 1 ? noun : plural}`;
}

export function bytesText(value: number): string {
  let size = value;
  let unit = 0;
  while (Math.abs(size) >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  const digits = size >= 100 || Number.isInteger(size) ? 0 : 1;
  return `${size.toFixed(digits)} ${units[unit]}`;
}

/** The amount of one resource, with its unit when it has one. */
export function amountText(resource: string, value: number): string {
  return inBytes.has(resource) ? bytesText(value) : fine.format(value);
}

/** Used of total: `3 of 8`, `1.5 of 4 GiB`. */
export function shareText(resource: string, used: number, total: number): string {
  return `${amountText(resource, used)} of ${amountText(resource, total)}`;
}

export function resourceNames(resources: Resources): string[] {
  const rank = (name: string): number => (first.includes(name) ? first.indexOf(name) : first.length);
  return Object.keys(resources).sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

/** `4 CPU, 1 GPU, 8 GiB memory`; what a job that asks for nothing gets is `nothing`. */
export function resourcesText(resources: Resources): string {
  const parts = resourceNames(resources)
    .filter((name) => ownValue(resources, name) !== 0)
    .map((name) => `${amountText(name, ownValue(resources, name) ?? 0)} ${name}`);
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

export function percentText(fraction: number): string {
  return `${Math.round(fraction * 100)}%`;
}

export function moneyText(value: number, currency = 'USD'): string {
  const digits = value !== 0 && Math.abs(value) < 0.1 ? 4 : 2;
  return new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  }).format(value);
}
