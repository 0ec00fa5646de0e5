import type { Client } from 'pg'

/** Data and work of one worker of Citus. */
export interface WorkerLoad {
  readonly node: string
  readonly rows: number
  readonly bytes: number
  /** Transactions since the worker was started; a statement outside of one counts as one. */
  readonly statements: number
}

const SHARDS = `
SELECT nodename || ':' || nodeport AS node, sum(shard_size) AS bytes FROM citus_shards
WHERE table_name::text LIKE 'ledger_state.%' GROUP BY 1 ORDER BY 1`
const ROWS = `
SELECT nodename || ':' || nodeport AS node, sum(result::bigint) AS rows
FROM run_command_on_shards('ledger_state.entries', 'SELECT count(*) FROM %s') counted
JOIN citus_shards shards ON shards.shardid = counted.shardid GROUP BY 1`
const STATEMENTS = `
SELECT nodename || ':' || nodeport AS node, result AS statements
FROM run_command_on_workers('SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()')`

export async function readWorkerLoads(client: Client): Promise<WorkerLoad[]> {
  const byNode = async (sql: string, column: string) => {
    const { rows } = await client.query<Record<string, string>>(sql)
    return new Map(rows.map((row) => [row.node!, Number(row[column])]))
  }
  const bytes = await byNode(SHARDS, 'bytes')
  const rows = await byNode(ROWS, 'rows')
  const statements = await byNode(STATEMENTS, 'statements')
  return [...bytes].map(([node, size]) => ({
    node,
    bytes: size,
    rows: rows.get(node) ?? 0,
    statements: statements.get(node) ?? 0,
  }))
}

/** Share of the busiest worker, as a multiple of an equal share. */
export function mostOfFairShare(amounts: readonly number[]): number {
  const sum = amounts.reduce((total, amount) => total + amount, 0)
  return sum === 0 ? 0 : (Math.max(...amounts) * amounts.length) / sum
}
