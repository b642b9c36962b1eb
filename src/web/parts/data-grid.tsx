import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ownValue } from '../../base/own-value.ts';
import { narrow } from './narrow.ts';
import { rowsInSight, rowsMoved, scrollToShow } from './window-math.ts';

export interface Column<Item> {
  readonly name: string;
  readonly label: string;
  /** Numbers stand at the right. */
  readonly right?: boolean;
  /** Depends on the item alone; what changes by itself, such as a relative time, is a component in it. */
  readonly cell: (item: Item) => ComponentChildren;
}

interface GridProps<Item> {
  readonly label: string;
  /** Chooses the widths of the columns in the style sheet. */
  readonly kind: string;
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[];
  /** Rows in all; more than `items` while the rest is loaded. */
  readonly count: number;
  readonly keyOf: (item: Item) => string;
  readonly onOpen?: (item: Item) => void;
  /** The row after the last one in sight. */
  readonly onSight?: (last: number) => void;
  /** Key of the row that is shown elsewhere on the page. */
  readonly chosen?: string | undefined;
  readonly empty: ComponentChildren;
}

/** All that a row is drawn from: a row whose look is the same is not drawn again. */
interface RowLook<Item> {
  readonly item: Item | undefined;
  readonly index: number;
  readonly rowHeight: number;
  readonly active: boolean;
  readonly chosen: boolean;
}

interface DrawnRow<Item> {
  readonly look: RowLook<Item>;
  readonly element: JSX.Element;
}

const headHeight = 32;

/**
 * A table of any length of which only the rows in sight are drawn. One stop for the Tab key; arrows, Page Up and Down,
 * Home and End move, Enter opens. What the reader looks at stays in place when rows come in above it.
 */
export function DataGrid<Item>(props: GridProps<Item>) {
  const { items, count, keyOf, columns } = props;
  const rowHeight = narrow.value ? 60 : 34;
  const id = useId();
  const { scroller, sight, look } = useSight(props, rowHeight);
  const [activeKey, setActiveKey] = useState<string | undefined>(undefined);
  const activeIndex = activeKey === undefined ? -1 : items.findIndex((item) => keyOf(item) === activeKey);
  const rows = useRows(props, { id, sight, rowHeight, activeKey, setActiveKey });

  const move = (to: number): void => {
    const element = scroller.current;
    const index = Math.max(0, Math.min(items.length - 1, to));
    const item = items[index];
    if (element === null || item === undefined) return;
    setActiveKey(keyOf(item));
    element.scrollTop = scrollToShow(index, element.scrollTop, element.clientHeight - headHeight, rowHeight);
  };

  const onKeyDown = (press: KeyboardEvent): void => {
    if (press.target !== press.currentTarget || press.ctrlKey || press.metaKey || press.altKey) return;
    const page = Math.max(1, Math.floor(((scroller.current?.clientHeight ?? 0) - headHeight) / rowHeight) - 1);
    const to = rowAfter(press.key, activeIndex, page, items.length);
    const item = items[activeIndex];
    if (to !== undefined) move(to);
    else if (press.key === 'Enter' && item !== undefined) props.onOpen?.(item);
    else return;
    press.preventDefault();
  };

  return (
    <div class={`grid grid-${props.kind}`}>
      <div
        ref={scroller}
        class="grid-scroller"
        role="grid"
        aria-label={props.label}
        aria-rowcount={count + 1}
        aria-colcount={columns.length}
        aria-activedescendant={
          activeIndex >= sight.first && activeIndex < sight.last ? `${id}-${activeKey}` : undefined
        }
        tabIndex={0}
        onScroll={look}
        onKeyDown={onKeyDown}
      >
        <div role="rowgroup" class="grid-head">
          <div role="row" aria-rowindex={1} class="grid-row grid-labels">
            {columns.map((column) => (
              <span key={column.name} role="columnheader" class={cellClass(column)}>
                {column.label}
              </span>
            ))}
          </div>
        </div>
        <div role="rowgroup" class="grid-canvas" style={{ height: `${count * rowHeight}px` }}>
          {rows}
        </div>
      </div>
      {count === 0 && <div class="grid-empty">{props.empty}</div>}
    </div>
  );
}

/** Which rows are in sight; the one at the top stays where it is when rows come in above it. */
function useSight<Item>({ items, count, keyOf, onSight }: GridProps<Item>, rowHeight: number) {
  const scroller = useRef<HTMLDivElement>(null);
  const [sight, setSight] = useState({ first: 0, last: 40 });
  const anchor = useRef<{ key: string; index: number } | undefined>(undefined);

  const look = (): void => {
    const element = scroller.current;
    if (element === null) return;
    const height = element.clientHeight - headHeight;
    const next = rowsInSight(element.scrollTop, height, rowHeight, count);
    setSight((old) => (old.first === next.first && old.last === next.last ? old : next));
    const top = Math.floor(element.scrollTop / rowHeight);
    const item = items[top];
    anchor.current = element.scrollTop > 0 && item !== undefined ? { key: keyOf(item), index: top } : undefined;
    onSight?.(next.last);
  };
  const latestLook = useRef(look);
  latestLook.current = look;

  useLayoutEffect(() => {
    const element = scroller.current;
    const held = anchor.current;
    if (element !== null && held !== undefined) {
      const moved = rowsMoved(items, keyOf, held.key, held.index);
      if (moved !== 0) element.scrollTop += moved * rowHeight;
    }
    look();
  }, [items, count, rowHeight]);

  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => latestLook.current());
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  return { scroller, sight, look };
}

interface Drawing {
  readonly id: string;
  readonly sight: { readonly first: number; readonly last: number };
  readonly rowHeight: number;
  readonly activeKey: string | undefined;
  readonly setActiveKey: (key: string) => void;
}

/** The rows in sight; those that look as before are not drawn again. */
function useRows<Item>(props: GridProps<Item>, drawing: Drawing): readonly JSX.Element[] {
  const { sight, rowHeight, activeKey } = drawing;
  const cache = useRef(new Map<string, DrawnRow<Item>>());
  const latestOpen = useRef(props.onOpen);
  latestOpen.current = props.onOpen;
  const onClick = (key: string, item: Item): void => {
    drawing.setActiveKey(key);
    if (String(getSelection() ?? '') === '') latestOpen.current?.(item);
  };
  const drawn = new Map<string, DrawnRow<Item>>();
  const rows: JSX.Element[] = [];
  for (let index = sight.first; index < Math.min(sight.last, props.count); index += 1) {
    const item = props.items[index];
    const key = item === undefined ? `gap-${index}` : props.keyOf(item);
    const look = { item, index, rowHeight, active: key === activeKey, chosen: key === props.chosen };
    const known = cache.current.get(key);
    const isSame = known !== undefined && sameLook(known.look, look);
    const row = isSame ? known : { look, element: drawRow(key, look, drawing.id, props, onClick) };
    drawn.set(key, row);
    rows.push(row.element);
  }
  cache.current = drawn;
  return rows;
}

function drawRow<Item>(
  key: string,
  { item, index, rowHeight, active, chosen }: RowLook<Item>,
  id: string,
  { columns, onOpen }: GridProps<Item>,
  onClick: (key: string, item: Item) => void,
): JSX.Element {
  return (
    <div
      key={key}
      id={`${id}-${key}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={active || chosen}
      class={rowClass(active, chosen, onOpen !== undefined)}
      style={{ transform: `translateY(${index * rowHeight}px)`, height: `${rowHeight}px` }}
      onClick={(click) => {
        if (item === undefined || (click.target as Element).closest('a, button') !== null) return;
        onClick(key, item);
      }}
    >
      {item === undefined ? (
        <span role="gridcell" class="cell cell-gap" aria-label="Loading" />
      ) : (
        columns.map((column) => (
          <span key={column.name} role="gridcell" class={cellClass(column)}>
            {column.cell(item)}
          </span>
        ))
      )}
    </div>
  );
}

/** Where a key leads from the active row, which is -1 where there is none. */
function rowAfter(key: string, active: number, page: number, count: number): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + page,
    PageUp: active - page,
    Home: 0,
    End: count - 1,
  };
  return ownValue(steps, key);
}

function rowClass(active: boolean, chosen: boolean, opens: boolean): string {
  return `grid-row grid-body-row${active ? ' is-active' : ''}${chosen ? ' is-chosen' : ''}${opens ? ' opens' : ''}`;
}

function cellClass<Item>(column: Column<Item>): string {
  return `cell cell-${column.name}${column.right === true ? ' cell-right' : ''}`;
}

function sameLook<Item>(a: RowLook<Item>, b: RowLook<Item>): boolean {
  return (
    a.item === b.item &&
    a.index === b.index &&
    a.rowHeight === b.rowHeight &&
    a.active === b.active &&
    a.chosen === b.chosen
  );
}
