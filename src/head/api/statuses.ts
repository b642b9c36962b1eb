import { apiErrors } from '../../api/errors.ts';
import { databaseErrors } from '../../base/sqlite/errors.ts';
import { embeddedErrors } from '../../engines/embedded/errors.ts';
import { engineErrors } from '../../engines/errors.ts';
import type { Statuses } from '../../jobs/api-answer.ts';
import { stateErrors } from '../../state/errors.ts';
import { headErrors } from '../errors.ts';

/** The HTTP status of each error that the cluster's part of the API answers. */
export const headStatuses: Statuses = [
  [
    400,
    [
      apiErrors.BadValue,
      headErrors.NoExtension,
      headErrors.BadBundles,
      headErrors.BadDrain,
      stateErrors.BadSpec,
      stateErrors.OtherProvider,
    ],
  ],
  [403, [apiErrors.AdminOnly]],
  [404, [headErrors.NoSuchThing]],
  [
    503,
    [
      engineErrors.Unreachable,
      embeddedErrors.AgentSilent,
      embeddedErrors.AgentRefused,
      embeddedErrors.NotSynced,
      embeddedErrors.Protocol,
    ],
  ],
  [507, [databaseErrors.DiskFull]],
];
