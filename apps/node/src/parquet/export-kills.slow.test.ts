// The program is killed while it exports; the same command completes the export.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '@ledger-state/testing/eventually'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.js'

const ROUNDS = 6
let bed: CommandBed

beforeAll(async () => {
  bed = new CommandBed()
  await bed.fillWithDemo('store', { keepTransactions: 'summary' })
})
afterAll(() => bed.close())

const namesIn = (to: string): string[] => {
  try {
    return readdirSync(bed.at(to), { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.(parquet|json)/.test(name),
    )
  } catch {
    return []
  }
}

const contentOf = (to: string) =>
  new Map(
    namesIn(to)
      .toSorted()
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(bed.at(to), name)))
          .digest('hex'),
      ]),
  )

it(`a killed export is completed by the same command (TEST_SEED=${testSeed()})`, async () => {
  const words = (to: string) => ['export', to, '--format', 'parquet', '--data-dir', 'store']
  expect((await bed.start(...words('whole')).outcome()).status).toBe(0)
  const whole = contentOf('whole')
  expect(whole.size).toBeGreaterThan(5)
  const random = createRandom(testSeed())
  for (let round = 0; round < ROUNDS; round++) {
    const to = `killed-${round}`
    const files = random.below(whole.size)
    const running = bed.start(...words(to))
    let hasEnded = false
    void running.ended.then(() => {
      hasEnded = true
    })
    await eventually(
      () => hasEnded || namesIn(to).length >= files,
      () => `${files} files of an export`,
    )
    running.child.kill('SIGKILL')
    await running.ended
    const again = await bed.start(...words(to)).outcome()
    expect([again.status, again.stderr]).toEqual([0, expect.stringContaining(`${to} holds versions 0 to 2999`)])
    expect(contentOf(to)).toEqual(whole)
  }
})
