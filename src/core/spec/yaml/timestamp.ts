/** A date or a date with time, as YAML has them. Shown, and written as JSON, the way Python shows it. */
export class Timestamp extends Date {
  readonly text: string;

  constructor(milliseconds: number, text: string) {
    super(milliseconds);
    this.text = text;
  }

  override toString(): string {
    return this.text;
  }

  override toJSON(): string {
    return this.text;
  }
}

const form =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt]|[ \t]+)(\d{1,2}):(\d{2}):(\d{2})(?:\.(\d*))?(?:[ \t]*(Z|([-+])(\d{1,2})(?::(\d{2}))?))?)?\n?$/;
const DAY_MINUTES = 24 * 60;

/** Undefined where the text is not a calendar date, as `2024-02-30`. */
export function readTimestamp(text: string): Timestamp | undefined {
  const match = form.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction, zone, zoneSign, zoneHour, zoneMinute] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const inCalendar = Number(year) > 0 && date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
  if (!inCalendar) return undefined;
  const dateText = `${year}-${pad(month)}-${pad(day)}`;
  if (hour === undefined) return new Timestamp(date.getTime(), dateText);
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const offset = (zoneSign === '-' ? -1 : 1) * (Number(zoneHour ?? 0) * 60 + Number(zoneMinute ?? 0));
  if (Math.abs(offset) >= DAY_MINUTES) return undefined;
  const micros = (fraction ?? '').slice(0, 6).padEnd(6, '0');
  date.setUTCHours(Number(hour), Number(minute) - offset, Number(second), Math.floor(Number(micros) / 1000));
  const shownFraction = Number(micros) === 0 ? '' : `.${micros}`;
  const shownZone =
    zone === undefined
      ? ''
      : `${offset < 0 ? '-' : '+'}${pad(Math.floor(Math.abs(offset) / 60))}:${pad(Math.abs(offset) % 60)}`;
  return new Timestamp(date.getTime(), `${dateText} ${pad(hour)}:${minute}:${second}${shownFraction}${shownZone}`);
}

const pad = (value: string | number | undefined): string => String(value).padStart(2, '0');
