import type { ComponentChildren } from 'preact';
import type { RequestFailure } from '../api/client.ts';

/** Stands where a list or a chart would be when there is nothing to show. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <div class="empty-text">{children}</div>}
    </div>
  );
}

/** What went wrong, what to do next, and a way to try again. */
export function Failure({ failure, onRetry }: { failure: RequestFailure; onRetry?: () => void }) {
  return (
    <div class="failure" role="alert">
      <p class="failure-title">{sentence(failure.message)}</p>
      {failure.hint !== undefined && <p class="failure-hint">{sentence(failure.hint)}</p>}
      <p class="failure-code">{failure.code}</p>
      {onRetry !== undefined && (
        <button type="button" class="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function sentence(text: string): string {
  const trimmed = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

/** Grey bars of the size of what is being loaded, so that nothing jumps when it arrives. */
export function Loading({ lines = 3 }: { lines?: number }) {
  return (
    <div class="loading" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} class="loading-line" />
      ))}
    </div>
  );
}
