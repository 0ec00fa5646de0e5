import pg from 'pg'

/** Runs SQL in a separate session. */
export async function runSql(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  // A test may kill the server meanwhile; the statement then rejects.
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text)).rows as Record<string, unknown>[]
  } finally {
    await client.end()
  }
}
