import { useEffect, useState } from 'preact/hooks';
import type { WhyAnswer } from '../../api/types.ts';
import { api, RequestFailure } from '../api/client.ts';
import { sentence } from './notice.tsx';
import { Ago } from './time.tsx';

interface WhyProps {
  readonly kind: 'job' | 'node';
  readonly id: string;
  /** Asked again when it changes. */
  readonly stamp: string;
}

/** What led to where a job or node stands, oldest first, and what one could change. */
export function Why({ kind, id, stamp }: WhyProps) {
  const [why, setWhy] = useState<WhyAnswer | undefined>(undefined);
  const [failure, setFailure] = useState<RequestFailure | undefined>(undefined);
  useEffect(() => {
    const asked = new AbortController();
    api
      .why(kind, id, asked.signal)
      .then((answer) => {
        setWhy(answer);
        setFailure(undefined);
      })
      .catch((problem: unknown) => {
        if (asked.signal.aborted) return;
        if (problem instanceof RequestFailure) setFailure(problem);
        else throw problem;
      });
    return () => asked.abort();
  }, [kind, id, stamp]);
  return (
    <section class="card" aria-labelledby={`why-${kind}`}>
      <header class="card-head">
        <h2 id={`why-${kind}`}>Why</h2>
      </header>
      {failure !== undefined && why === undefined && <p class="quiet">{sentence(failure.message)}</p>}
      {why !== undefined && (
        <>
          <ol class="plain-list chain">
            {why.chain.map((link, index) => (
              <li key={index}>
                <span class="chain-text">{link.text}</span>
                <Ago at={link.at} />
              </li>
            ))}
          </ol>
          {why.next.length > 0 && (
            <div class="advice">
              <p class="advice-title">What would change it</p>
              <ul>
                {why.next.map((step) => (
                  <li key={step}>{step}</li>
                ))}
              </ul>
            </div>
          )}
        </>
      )}
    </section>
  );
}
