import { ServeOnHead } from '../../../client/serve.ts';
import { configIn } from '../../../core/serve/change.ts';
import type { Run } from '../../command.ts';
import { yamlText } from '../../render/yaml-text.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import type { connectionOptions } from '../../shared/cluster-options.ts';

export const run: Run<typeof connectionOptions> = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const config = configIn(await new ServeOnHead(http).details());
    io.out(io.json ? `${JSON.stringify(config)}\n` : `${yamlText(config, 0)}\n`);
    return 0;
  });
