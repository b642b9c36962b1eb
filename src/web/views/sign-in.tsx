import { useRef, useState } from 'preact/hooks';
import { RequestFailure, signIn } from '../api/client.ts';
import { BrandMark } from '../parts/brand.tsx';
import { sentence } from '../parts/notice.tsx';
import { startFeed } from '../state/feed.ts';
import { goTo, linkTo, route } from '../state/route.ts';

/** The head leads a link that it does not take here, with this mark behind the `#`: a link works once, and not for long. */
function takeSpentLink(): boolean {
  if (route.peek().params.get('link') !== 'spent') return false;
  goTo(linkTo([]), true);
  return true;
}

/** Asks for a token when the browser holds no session. The token goes to the head only and is kept by no script. */
export function SignInView() {
  const [spentLink] = useState(takeSpentLink);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);

  const onSubmit = async (): Promise<void> => {
    const token = field.current?.value.trim() ?? '';
    if (token === '') {
      setProblem('Enter a token.');
      field.current?.focus();
      return;
    }
    setBusy(true);
    try {
      await signIn(token);
      await startFeed();
    } catch (failure) {
      if (!(failure instanceof RequestFailure)) throw failure;
      setProblem(failure.signedOut ? 'Invalid token. It may have been revoked.' : sentence(failure.message));
      field.current?.select();
    } finally {
      setBusy(false);
    }
  };

  return (
    <main class="sign-in">
      <form
        class="card sign-in-card"
        onSubmit={(submit) => {
          submit.preventDefault();
          void onSubmit();
        }}
      >
        <BrandMark />
        <h1>Sign in to Manta</h1>
        {spentLink && (
          <p class="note" role="status">
            This link was already used or has expired. Run <code>manta dashboard</code> for a new one.
          </p>
        )}
        <label class="field">
          <span class="field-label">Token</span>
          <input
            ref={field}
            type="password"
            autocomplete="off"
            spellcheck={false}
            autofocus
            aria-invalid={problem !== undefined}
            aria-describedby="sign-in-help"
          />
        </label>
        <p id="sign-in-help" class={problem === undefined ? 'field-help' : 'field-problem'} role="status">
          {problem ?? (
            <>
              <code>manta dashboard</code> opens this page signed in; <code>manta env</code> prints your token.
            </>
          )}
        </p>
        <button type="submit" class="button button-main" disabled={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}
