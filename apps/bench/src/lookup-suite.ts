import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStateEngine, type StateView } from '@ledger-state/state-engine'
import { open } from 'lmdb'

export interface LookupOptions {
  readonly keys: number
  readonly depth: number
}

const ROUNDS = 9
const LOOK_UPS_PER_ROUND = 50_000
const VERSIONS_PER_BATCH = 1_000

/**
 * Nanoseconds of one look-up, medians of interleaved rounds, uniform access, warm. The floor is `getBinary` of bare lmdb
 * with the same keys and the newest values, which keeps no history.
 */
export async function runLookupSuite({ keys, depth }: LookupOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  try {
    process.stderr.write(`writing ${keys} keys × ${depth} versions under ${folder} …\n`)
    const random = createRandom(1)
    const names = Array.from({ length: keys }, () => Buffer.from(Array.from({ length: 65 }, () => random(256))))
    const value = (key: number, revision: number) => Buffer.alloc(150, `${key} ${revision}`)
    const engine = openStateEngine({ path: join(folder, 'engine') })
    const floor = open<Buffer, Buffer>({
      path: join(folder, 'floor.mdb'),
      encoding: 'binary',
      keyEncoding: 'binary',
      noSubdir: true,
    })

    // Version v writes the v-th part of all keys, so that each is written `depth` times over the whole.
    const versions = depth * 1_000
    const perVersion = Math.ceil(keys / 1_000)
    for (let start = 0; start < versions; start += VERSIONS_PER_BATCH) {
      const batch = Array.from({ length: VERSIONS_PER_BATCH }, (_, at) => {
        const version = start + at
        const first = (version % 1_000) * perVersion
        const written = names.slice(first, first + perVersion)
        return {
          version: BigInt(version),
          block: { height: BigInt(version), epoch: 0n, timestampUsec: 0n },
          writes: written.map((name, place) => [name, value(first + place, Math.floor(version / 1_000))] as const),
        }
      })
      await engine.commit(batch, { chainId: 1 })
    }
    floor.transactionSync(() => {
      for (const [at, name] of names.entries()) floor.putSync(name, value(at, depth - 1))
    })

    const views: StateView[] = Array.from({ length: 1_000 }, () => engine.at(BigInt(999 + random(versions - 999))))
    const latest = engine.at()
    const absent = names.map((name) => Buffer.concat([name, Buffer.of(0)]))
    const contenders: [string, (at: number) => unknown][] = [
      ['lmdb getBinary (no history)', (at) => floor.getBinary(names[at]!)],
      ['engine, latest', (at) => latest.get(names[at]!)],
      ['engine, random version', (at) => views[at % 1_000]!.get(names[at]!)],
      ['engine, never written', (at) => latest.get(absent[at]!)],
    ]
    const samples = contenders.map((): number[] => [])
    for (let round = -1; round < ROUNDS; round++) {
      for (const [place, [, look]] of contenders.entries()) {
        const began = process.hrtime.bigint()
        for (let count = 0; count < LOOK_UPS_PER_ROUND; count++) look(random(keys))
        // The first round warms up.
        if (round >= 0) samples[place]!.push(Number(process.hrtime.bigint() - began) / LOOK_UPS_PER_ROUND)
      }
    }
    report(
      contenders.map(([name]) => name),
      samples,
    )
    await engine.close()
    await floor.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function report(names: readonly string[], samples: readonly number[][]): void {
  const medians = samples.map((rounds) => [...rounds].sort((a, b) => a - b)[rounds.length >> 1]!)
  process.stdout.write(
    `${''.padEnd(30)}${'ns'.padStart(8)}${'spread'.padStart(16)}${'× the speed of lmdb'.padStart(22)}\n`,
  )
  for (const [at, name] of names.entries()) {
    const spread = `${Math.min(...samples[at]!).toFixed(0)}–${Math.max(...samples[at]!).toFixed(0)}`
    const ratio = (medians[0]! / medians[at]!).toFixed(2)
    process.stdout.write(
      `${name.padEnd(30)}${medians[at]!.toFixed(0).padStart(8)}${spread.padStart(16)}${ratio.padStart(22)}\n`,
    )
  }
}

function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}
