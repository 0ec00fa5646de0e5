import { startEmbeddedPostgres } from './embedded-postgres.ts'
import { ROWS_OF_PAGE, rowsOfVersion, type TransactionRows, TypeNumbers } from './transaction-rows.ts'

const TABLE_NAMES = ['transactions', 'affected', 'types', 'events'] as const
const TABLES = `
  CREATE TABLE transactions (version bigint PRIMARY KEY, sender bytea, number numeric(20), body bytea);
  CREATE INDEX ON transactions (sender, number);
  CREATE TABLE affected (address bytea, version bigint, PRIMARY KEY (address, version));
  CREATE TABLE types (id integer PRIMARY KEY, type bytea);
  CREATE TABLE events (
    version bigint, place integer, type integer, address bytea, creation bigint, number bigint, body bytea,
    PRIMARY KEY (version, place));
  CREATE INDEX ON events (type, version, place);
  CREATE INDEX ON events (address, creation, number) WHERE address IS NOT NULL`

/** Rows of a table, as columns: `unnest` takes these much faster than single values. */
type Columns = unknown[][]

/**
 * Opens transactions as rows of PostgreSQL, over TCP on this machine, with prepared statements. Rejects if its binaries are
 * not installed, or do not run.
 */
export async function openPostgresTransactions(path: string): Promise<TransactionRows> {
  const { default: pg } = await import('pg')
  const { server, url, isNew } = await startEmbeddedPostgres(path)
  const client = new pg.Client({ connectionString: url })
  // When the server ends, the running query rejects with the same error.
  client.on('error', () => {})
  await client.connect()
  if (isNew) await client.query(TABLES)
  const { rows: stored } = await client.query('SELECT id, type FROM types')
  let newTypes: Columns = [[], []]
  const types = new TypeNumbers(stored, (number, type) => addRow(newTypes, [number, Buffer.from(type)]))

  async function insert(table: string, types: readonly string[], columns: Columns): Promise<void> {
    const places = types.map((type, at) => `$${at + 1}::${type}[]`)
    const text = `INSERT INTO ${table} SELECT * FROM unnest(${places.join(', ')})`
    await client.query({ name: `insert ${table}`, text, values: columns })
  }

  async function page(name: string, text: string, values: readonly unknown[]): Promise<readonly unknown[]> {
    const { rows } = await client.query({ name, text: `${text} LIMIT ${ROWS_OF_PAGE}`, values: [...values] })
    return rows
  }

  return {
    async add(versions) {
      const sent: Columns = [[], [], [], []]
      const affected: Columns = [[], []]
      const events: Columns = [[], [], [], [], [], [], []]
      for (const version of versions) {
        const rows = rowsOfVersion(version)
        const number = String(rows.version)
        addRow(sent, [number, bufferOf(rows.sender), textOf(rows.number), bufferOf(rows.body)])
        for (const address of rows.affected) addRow(affected, [bufferOf(address), number])
        for (const [place, { type, address, creationNumber, sequenceNumber, data }] of rows.events.entries()) {
          const ofStream = [bufferOf(address), textOf(creationNumber), textOf(sequenceNumber)]
          addRow(events, [number, place, types.numberOf(type), ...ofStream, bufferOf(data)])
        }
      }
      await insert('types', ['integer', 'bytea'], newTypes)
      newTypes = [[], []]
      await insert('transactions', ['bigint', 'bytea', 'numeric', 'bytea'], sent)
      await insert('affected', ['bytea', 'bigint'], affected)
      await insert('events', ['bigint', 'integer', 'integer', 'bytea', 'bigint', 'bigint', 'bytea'], events)
    },
    byVersion: (first) =>
      page('by version', 'SELECT * FROM transactions WHERE version >= $1 ORDER BY version', [String(first)]),
    byAccount: (sender, start) =>
      page('by account', 'SELECT * FROM transactions WHERE sender = $1 AND number >= $2 ORDER BY number', [
        Buffer.from(sender),
        String(start),
      ]),
    byEventKey: (address, creationNumber, start) =>
      page(
        'by event key',
        'SELECT * FROM events WHERE address = $1 AND creation = $2 AND number >= $3 ORDER BY number',
        [Buffer.from(address), String(creationNumber), String(start)],
      ),
    byEventType: (type, from) =>
      page('by event type', 'SELECT * FROM events WHERE type = $1 AND version >= $2 ORDER BY version, place', [
        types.numberOf(type),
        String(from),
      ]),
    async usedBytes() {
      await client.query('VACUUM ANALYZE')
      const tables = TABLE_NAMES.map((name) => `pg_total_relation_size('${name}')`)
      const { rows } = await client.query(`SELECT ${tables.join(' + ')} AS bytes`)
      return Number(rows[0].bytes)
    },
    async close() {
      await client.end()
      await server.stop()
    },
  }
}

function addRow(columns: Columns, row: readonly unknown[]): void {
  for (const [at, value] of row.entries()) columns[at]!.push(value)
}

function bufferOf(bytes: Uint8Array | null): Buffer | null {
  return bytes && Buffer.from(bytes)
}

function textOf(number: bigint | null): string | null {
  return number === null ? null : String(number)
}
