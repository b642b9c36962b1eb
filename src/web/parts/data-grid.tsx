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
  const scroller = useRef<HTMLDivElement>(null);
  const [sight, setSight] = useState({ first: 0, last: 40 });
  const [activeKey, setActiveKey] = useState<string | undefined>(undefined);
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
    props.onSight?.(next.last);
  };

  const rowCache = useRef(new Map<string, DrawnRow<Item>>());
  const latestOpen = useRef(props.onOpen);
  latestOpen.current = props.onOpen;
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

  const activeIndex = activeKey === undefined ? -1 : items.findIndex((item) => keyOf(item) === activeKey);

  const move = (to: number): void => {
    const element = scroller.current;
    const index = Math.max(0, Math.min(items.length - 1, to));
    const item = items[index];
    if (element === null || item === undefined) return;
    setActiveKey(keyOf(item));
    element.scrollTop = scrollToShow(index, element.scrollTop, element.clientHeight - headHeight, rowHeight);
  };

  const drawRow = (key: string, { item, index, active, chosen }: RowLook<Item>): JSX.Element => (
    <div
      key={key}
      id={`${id}-${key}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={active || chosen}
      class={rowClass(active, chosen, props.onOpen !== undefined)}
      style={{ transform: `translateY(${index * rowHeight}px)`, height: `${rowHeight}px` }}
      onClick={(click) => {
        if (item === undefined || (click.target as Element).closest('a, button') !== null) return;
        setActiveKey(key);
        if (String(getSelection() ?? '') === '') latestOpen.current?.(item);
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

  const onKeyDown = (press: KeyboardEvent): void => {
    if (press.target !== press.currentTarget || press.ctrlKey || press.metaKey || press.altKey) return;
    const page = Math.max(1, Math.floor(((scroller.current?.clientHeight ?? 0) - headHeight) / rowHeight) - 1);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: activeIndex + 1,
      ArrowUp: activeIndex - 1,
      PageDown: activeIndex + page,
      PageUp: activeIndex - page,
      Home: 0,
      End: items.length - 1,
    };
    const to = ownValue(steps, press.key);
    const item = items[activeIndex];
    if (to !== undefined) move(to);
    else if (press.key === 'Enter' && item !== undefined) props.onOpen?.(item);
    else return;
    press.preventDefault();
  };

  const drawn = new Map<string, DrawnRow<Item>>();
  const rows: JSX.Element[] = [];
  for (let index = sight.first; index < Math.min(sight.last, count); index += 1) {
    const item = items[index];
    const key = item === undefined ? `gap-${index}` : keyOf(item);
    const look = { item, index, rowHeight, active: key === activeKey, chosen: key === props.chosen };
    const known = rowCache.current.get(key);
    const row = known !== undefined && sameLook(known.look, look) ? known : { look, element: drawRow(key, look) };
    drawn.set(key, row);
    rows.push(row.element);
  }
  rowCache.current = drawn;

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
