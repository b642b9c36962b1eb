import { useEffect, useRef, useState } from 'preact/hooks';
import { countText } from '../words/amounts.ts';
import type { Look } from '../words/states.ts';
import { Icon, StateMark } from './icon.tsx';

interface SearchProps {
  readonly label: string;
  readonly value: string;
  /** Called when the reader pauses, not at every key. */
  readonly onSearch: (value: string) => void;
}

const pause = 150;

export function SearchField({ label, value, onSearch }: SearchProps) {
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const given = useRef(value);
  useEffect(() => {
    if (value !== given.current) setTyped(value);
    given.current = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const give = (text: string): void => {
    clearTimeout(timer.current);
    given.current = text;
    onSearch(text);
  };
  return (
    <label class="search">
      <Icon name="search" />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={typed}
        spellcheck={false}
        onInput={(input) => {
          const text = input.currentTarget.value;
          setTyped(text);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => give(text), pause);
        }}
        onKeyDown={(press) => {
          if (press.key === 'Enter') give(typed);
        }}
      />
    </label>
  );
}

export interface Choice {
  readonly name: string;
  readonly label: string;
  readonly look?: Look;
  readonly count?: number | undefined;
}

interface ChipsProps {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  /** What is shown when nothing is chosen. @default All */
  readonly otherwise?: string;
}

/** Kinds to show, any number of them. */
export function FilterChips({ label, choices, chosen, onChange, otherwise = 'All' }: ChipsProps) {
  const flip = (name: string): void =>
    onChange(chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name]);
  return (
    <div class="chips" role="group" aria-label={label}>
      <button type="button" class="chip" aria-pressed={chosen.length === 0} onClick={() => onChange([])}>
        {otherwise}
      </button>
      {choices.map((choice) => (
        <button
          key={choice.name}
          type="button"
          class="chip"
          aria-pressed={chosen.includes(choice.name)}
          onClick={() => flip(choice.name)}
        >
          {choice.look === undefined ? choice.label : <StateMark look={choice.look} />}
          {choice.count !== undefined && <span class="chip-count">{countText(choice.count)}</span>}
        </button>
      ))}
    </div>
  );
}
