import pg from 'pg'

const CLEAR = `
TRUNCATE ledger_state.entries;
TRUNCATE ledger_state.keys;
TRUNCATE ledger_state.blocks;
DELETE FROM ledger_state.head;
INSERT INTO ledger_state.head DEFAULT VALUES`

/** Makes a store empty again, which is quicker than a new one. */
export async function clearStore(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const sql of CLEAR.split(';')) await client.query(sql)
  } finally {
    await client.end()
  }
}
