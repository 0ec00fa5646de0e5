import { createMemoryEngine } from '@ledger-state/engine'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createLedger } from './create-ledger.js'

/** A ledger of blocks of two versions each, with the given times. */
async function ledgerOf(times: readonly bigint[]) {
  const engine = createMemoryEngine()
  for (const [at, timestampUsec] of times.entries()) {
    const version = BigInt(2 * at)
    const block = { height: BigInt(at), epoch: 0n, timestampUsec }
    const writes = { writes: [] }
    await engine.commit(
      [
        { version, block, ...writes },
        { version: version + 1n, ...writes },
      ],
      { chainId: 4 },
    )
  }
  return { engine, ledger: createLedger(engine) }
}

it('the version at a time is the last version of the newest block at or before the time, also among blocks of one time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.bigInt(0n, 20n), { minLength: 1, maxLength: 20 }),
      fc.bigInt(0n, 25n),
      async (steps, time) => {
        const times = steps.map((_, at) =>
          steps.slice(0, at + 1).reduce((sum, step) => sum + (step > 10n ? 0n : step), 0n),
        )
        const { ledger } = await ledgerOf(times)
        const newest = times.findLastIndex((one) => one <= time)
        const read = () => ledger.versionAtTime(time, 1_000n)
        if (newest < 0) expect(read).toThrow(expect.objectContaining({ code: 'version_pruned' }))
        else expect(read()).toBe(BigInt(2 * newest + 1))
      },
    ),
  )
})

it('versionAtTime refuses times before the window and after now', async () => {
  const { engine, ledger } = await ledgerOf([10n, 20n, 30n])
  await engine.prune(2n)
  const refusal = (code: string) => expect.objectContaining({ code })
  expect(() => ledger.versionAtTime(29n, 40n)).toThrow(refusal('version_pruned'))
  expect(() => ledger.versionAtTime(41n, 40n)).toThrow(refusal('version_not_found'))
  expect(ledger.versionAtTime(40n, 40n)).toBe(5n)
  // The clock is behind that of the chain.
  expect(ledger.versionAtTime(30n, 25n)).toBe(5n)
  expect(() => ledger.versionAtTime(31n, 25n)).toThrow(refusal('version_not_found'))
  const inAnHour = BigInt(Date.now() + 3_600_000) * 1_000n
  expect(() => ledger.versionAtTime(inAnHour)).toThrow(refusal('version_not_found'))
  expect(() => createLedger(createMemoryEngine()).versionAtTime(1n)).toThrow(refusal('no_ledger'))
})
