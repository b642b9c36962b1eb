import { messageOf } from '../base/errors.ts';
import type { EventSink } from '../base/events.ts';
import { backUp } from '../base/sqlite/repair.ts';
import type { Clock } from '../base/time/clock.ts';
import { type LogStore, openLogStore } from '../jobs/logs/log-store.ts';
import { PackageStore } from '../jobs/packages/packages.ts';
import { type JobStore, openJobStore } from '../jobs/queue/store.ts';
import { Users } from '../jobs/users/users.ts';
import type { StateFolder } from '../state/state-folder.ts';
import { headEvents } from './events.ts';
import { openHeadDatabase, repairWords } from './journal/database.ts';
import { type EventLog, openEventLog } from './journal/event-log.ts';
import { openScalingJournal, type ScalingJournal } from './journal/scaling-journal.ts';
import type { LastPass } from './report/last-pass.ts';
import { countingSink, type HeadMetrics } from './report/metrics.ts';

/** What a head keeps in its state folder. */
export interface Stores {
  readonly eventLog: EventLog;
  /** Into the log, and counted by the metrics. */
  readonly events: EventSink;
  readonly journal: ScalingJournal;
  readonly store: JobStore;
  readonly users: Users;
  readonly logs: LogStore;
  readonly packages: PackageStore;
  backUp(): Promise<void>;
  close(): Promise<void>;
}

export interface StoresContext {
  readonly folder: StateFolder;
  readonly clock: Clock;
  readonly log: (line: string) => void;
  readonly metrics: HeadMetrics;
  readonly lastPass: LastPass;
}

/** Opens the journal, repaired where it was damaged, and all that stands in it or beside it. */
export function openStores({ folder, clock, log, metrics, lastPass }: StoresContext): Stores {
  const { files } = folder;
  const now = (): number => clock.now();
  const { database, repaired } = openHeadDatabase(files.journal, files.backups, now());
  const eventLog = openEventLog(database, now, (error) => log(messageOf(error)));
  const events = countingSink(eventLog, metrics, (instance) => lastPass.ageOf(instance));
  if (repaired) events.emit(headEvents.repaired, { damage: repaired.damage, detail: repairWords(repaired) });
  return {
    eventLog,
    events,
    journal: openScalingJournal(database, now),
    store: openJobStore(database),
    users: new Users(database, clock, events),
    logs: openLogStore(files.logs, now),
    packages: new PackageStore({ database, folder: files.packages, clock }),
    backUp: async () => void (await backUp(database, files.backups, now())),
    close: async () => {
      await eventLog.close();
      database.close();
    },
  };
}
