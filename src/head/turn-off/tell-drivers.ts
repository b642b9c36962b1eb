import type { EventSink } from '../../base/events.ts';
import type { Backend } from '../backend/backend.ts';
import { headEvents } from '../events.ts';

/** Drivers hear of the end too, where the engine can tell them. */
export const tellingDrivers = (events: EventSink, backend: Pick<Backend, 'tell'>, signal: AbortSignal): EventSink => ({
  emit(kind, data, progress) {
    events.emit(kind, data, progress);
    if (kind.code === headEvents.turnOffSoon.code) backend.tell?.(kind.text(data), signal).catch(() => {});
  },
});
