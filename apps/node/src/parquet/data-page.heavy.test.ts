// The commands and queries of docs/data.md print the output on that page, on the demonstration ledger; and view
// histories as Parquet.
import { readFileSync } from 'node:fs'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.js'
import { DEMO_WINDOW } from '../demo/demo-ledger.js'

const page = readFileSync(new URL('../../../../docs/data.md', import.meta.url), 'utf8')
const questions = page
  .slice(page.indexOf('## Five questions'))
  .split(/^(?=\*\*)/m)
  .slice(1)
  .map((part) => ({
    title: /\*\*(.*?)\*\*/.exec(part)![1]!,
    sql: /```sql\n(.*?)```/s.exec(part)![1]!,
    printed: /```text\n(.*?)```/s.exec(part)![1]!,
  }))
const MARKET = '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::market'

let bed: CommandBed
let duck: DuckDBConnection

beforeAll(async () => {
  bed = new CommandBed()
  // As the first command of the page ingests it.
  await bed.fillWithDemo('data/sql', { retain: DEMO_WINDOW, keepTransactions: 'summary' })
  const command = /^npx -y pnpm ledger-state (export lake .*)$/m.exec(page)![1]!
  const { status, stderr } = await bed.start(...command.split(' ')).outcome()
  expect([status, stderr]).toEqual([0, expect.stringMatching(/lake holds versions 993 to 2999 in [\d,]+ rows/)])
  duck = await (await DuckDBInstance.create(':memory:')).connect()
})
afterAll(async () => {
  duck.closeSync()
  await bed.close()
})

/** The result of a query as CSV, as the page shows it. */
async function toCsv(sql: string): Promise<string> {
  const result = await duck.runAndReadAll(sql)
  const rows = result.getRowsJson().map((row) => row.map((cell) => cell ?? '').join())
  return [result.columnNames().join(), ...rows].map((line) => `${line}\n`).join('')
}

describe('docs/data.md', () => {
  it('answers five questions', () => {
    expect(questions.length).toBe(5)
  })

  it.each(questions)('$title', async ({ sql, printed }) => {
    expect(await toCsv(sql.replaceAll("'lake/", `'${bed.at('lake')}/`))).toBe(printed)
  })
})

describe('a view history as Parquet', () => {
  const words = ['view', `${MARKET}::quote`, '1000000', '--history', '--order', 'asc', '--data-dir', 'data/sql']
  const print = (...more: string[]) => bed.start(...words, ...more).outcome()

  it('has the changes that CSV has', async () => {
    const [node, program] = bed.commandLine()
    const { status } = await bed.runInShell(
      `'${node}' '${program}' ${words.join(' ')} --format parquet > quote.parquet`,
    )
    expect(status).toBe(0)
    const csv = (await print('--csv')).stdout.trimEnd().split('\n').slice(1)
    const found = await toCsv(
      `SELECT version, epoch_us(timestamp) AS timestamp, result FROM '${bed.at('quote.parquet')}' ORDER BY version`,
    )
    expect(found.trimEnd().split('\n').slice(1)).toEqual(
      csv.map((line) => {
        const [version, timestamp, , result] = line.split(',')
        return [version, timestamp, result].join()
      }),
    )
    expect(csv.length).toBeGreaterThan(50)
    const hashes = await toCsv(
      `SELECT count(*) AS n FROM '${bed.at('quote.parquet')}' JOIN '${bed.at('lake')}/transactions/*.parquet' t USING (version)
       WHERE transaction_hash <> '0x' || lower(hex(t.hash))`,
    )
    expect(hashes).toBe('n\n0\n')
  })

  it('has the results of a view that returns several, in the order that was asked for', async () => {
    const [node, program] = bed.commandLine()
    const { status } = await bed.runInShell(
      `'${node}' '${program}' view ${MARKET}::reserves --history --limit 3 --format parquet --data-dir data/sql > few.parquet`,
    )
    expect(status).toBe(0)
    const found = (await toCsv(`SELECT version, result_0, result_1 FROM '${bed.at('few.parquet')}'`))
      .trimEnd()
      .split('\n')
    const csv = (
      await bed
        .start('view', `${MARKET}::reserves`, '--history', '--limit', '3', '--csv', '--data-dir', 'data/sql')
        .outcome()
    ).stdout
    const lines = csv
      .trimEnd()
      .split('\n')
      .map((line) => line.split(','))
    expect(found).toEqual(lines.map(([version, , , first, second]) => [version, first, second].join()))
    expect(found.length).toBe(4)
  })

  it('goes with --history only, and not with --csv', async () => {
    const [both, alone] = await Promise.all([
      print('--csv', '--format', 'parquet'),
      bed.start('view', `${MARKET}::quote`, '1', '--format', 'parquet', '--data-dir', 'data/sql').outcome(),
    ])
    expect([both.status, both.stderr]).toEqual([
      2,
      expect.stringContaining('--csv and --format parquet are both given'),
    ])
    expect([alone.status, alone.stderr]).toEqual([2, expect.stringContaining('--format needs --history')])
  })
})
