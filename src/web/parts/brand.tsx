/** The sign of Manta; its name stands beside it or is said by what holds it. */
export function BrandMark() {
  return (
    <svg class="brand-mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path d="M16 8c2.6 0 4.4 1.5 5.8 3.2 1.8 2.1 3.7 3.7 6.7 4.3-2.7 1.6-5.5 2-7.9 2.8-1.9.6-3 1.6-3.5 3.1L16 27l-1.1-5.6c-.5-1.5-1.6-2.5-3.5-3.1-2.4-.8-5.2-1.2-7.9-2.8 3-.6 4.9-2.2 6.7-4.3C11.6 9.5 13.4 8 16 8z" />
    </svg>
  );
}
