import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../testing/postgres-server.ts'
import { openPostgresEngine, type PostgresEngine } from '../open-postgres-engine.js'

const SIZES = [0, 1, 32 * 1024 - 1, 32 * 1024, 32 * 1024 + 1, 100_000, 1 << 20]

let server: PostgresServer
let engine: PostgresEngine

beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
  engine = await openPostgresEngine({ url: server.url() })
})

afterAll(async () => {
  await engine?.close()
  await server?.close()
})

const keyOf = (at: number): Buffer => Buffer.from(`key ${at}`)

it('the engine on PostgreSQL reads values of all lengths together, at each version, and says that they are pruned', async () => {
  const at = (version: bigint) => ({ height: version, epoch: 0n, timestampUsec: version })
  for (const version of [0n, 1n]) {
    const writes = SIZES.map((size, index) => [keyOf(index), Buffer.alloc(size, Number(version) + 1)] as const)
    await engine.commit([{ version, block: at(version), writes }], { chainId: 1 })
  }
  const gone = [keyOf(6), null] as const
  await engine.commit([{ version: 2n, block: at(2n), writes: [gone] }], { chainId: 1 })
  const snapshot = await engine.snapshot()
  const asked = [...SIZES.keys(), 99, 5, 5].map(keyOf)
  for (const version of [0n, 1n, 2n]) {
    const entries = await snapshot.at(version).load(asked)
    const written = version === 0n ? 0n : 1n
    const expected = asked.map((_, place) => {
      const index = place > SIZES.length ? 5 : place
      if (index === SIZES.length || (index === 6 && version === 2n)) return undefined
      return { version: written, value: Buffer.alloc(SIZES[index]!, Number(written) + 1) }
    })
    expect(entries.length).toBe(expected.length)
    for (const [place, entry] of entries.entries()) {
      expect(entry?.version).toBe(expected[place]?.version)
      expect(entry === undefined || expected[place]!.value.equals(entry.value)).toBe(true)
    }
  }
  await engine.prune(1n)
  await expect(snapshot.at(1n).load([keyOf(5)])).rejects.toMatchObject({ code: 'version_pruned' })
})
