import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { demonstrationLake } from './demonstration.ts'

/** Questions about the tables of an export, by their titles. */
const QUESTIONS: Readonly<Record<string, string>> = {
  'the balance of each account, as the sum of its changes':
    'SELECT owner, asset, sum(after::HUGEINT - before) AS amount FROM balances GROUP BY ALL HAVING amount > 0 ORDER BY owner',
  'holders at the end of each day': `
    WITH changes AS (SELECT owner, date_trunc('day', timestamp)::DATE AS day, sum(after::HUGEINT - before) AS change FROM balances GROUP BY ALL),
      held AS (SELECT days.day, owner, sum(change) AS amount FROM (SELECT DISTINCT day FROM changes) AS days JOIN changes ON changes.day <= days.day GROUP BY ALL)
    SELECT day, count(*) FILTER (amount > 0) AS holders FROM held GROUP BY day ORDER BY day`,
  'resources that were written most': `
    SELECT type, count(*) AS writes, count(*) FILTER (deleted) AS deletions FROM writes
    WHERE kind = 'resource' GROUP BY type ORDER BY writes DESC LIMIT 5`,
}

/** Names the tables of an export in DuckDB, which reads only the parts of the files that a query needs. */
async function openLake(folder: string): Promise<DuckDBConnection> {
  const duck = await (await DuckDBInstance.create(':memory:')).connect()
  for (const table of ['writes', 'balances', 'blocks']) {
    await duck.run(`CREATE VIEW ${table} AS FROM read_parquet('${folder.replaceAll("'", "''")}/${table}/*.parquet')`)
  }
  return duck
}

const given = process.argv[2]
const lake = given === undefined ? await demonstrationLake() : { folder: given, remove: () => {} }
try {
  const duck = await openLake(lake.folder)
  for (const [title, sql] of Object.entries(QUESTIONS)) {
    const result = await duck.runAndReadAll(sql)
    console.log(`${title}:`)
    for (const row of [result.columnNames(), ...result.getRowsJson()]) console.log(row.join())
  }
  duck.closeSync()
} finally {
  lake.remove()
}
