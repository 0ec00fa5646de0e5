// The commands of docs/recipes.md print the output on that page: on the demonstration ledger, and on a ledger with a
// delegation pool and a name service, whose code is ours.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { ByteWriter, parseAddress, type Write } from '@ledger-state/core'
import { ingestSource } from '@ledger-state/ingest'
import { assembleModule } from '@ledger-state/move-module'
import { openStateEngine } from '@ledger-state/state-engine'
import { moduleKey, parseStructTag, resourceKey } from '@ledger-state/type-tag'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { NAME, nameServiceWrites } from '../../testing/name-service.ts'
import { DEMO_WINDOW, openDemoLedger } from '../demo/demo-ledger.js'

let bed: CommandBed

const FRAMEWORK = parseAddress('0x1')
const POOL = parseAddress('0x5afe')
/** Active stake at the end of each day: rewards, and more stake on the last day. */
const STAKES = [1_000_000_000n, 1_000_180_000n, 1_000_360_032n, 1_500_540_096n]
const DAY_USEC = 86_400_000_000n
const FIRST_DAY_USEC = BigInt(Date.parse('2025-01-02T12:00:00Z')) * 1_000n

function delegationPool(): Write {
  const address = { kind: 'address' } as const
  const u64 = { kind: 'u64' } as const
  const read = (field: string) =>
    [['copy_loc', 0], ['imm_borrow_global', 'Stake'], ['imm_borrow_field', `Stake.${field}`], ['read_ref']] as const
  const binary = assembleModule({
    version: 7,
    address: '0x1',
    name: 'delegation_pool',
    structs: [
      {
        name: 'Stake',
        abilities: 8,
        fields: [
          ['active', u64],
          ['inactive', u64],
          ['pending_inactive', u64],
        ],
      },
    ],
    functions: [
      {
        name: 'get_stake',
        parameters: [address, address],
        results: [u64, u64, u64],
        code: [...read('active'), ...read('inactive'), ...read('pending_inactive'), ['ret']],
      },
    ],
  })
  return [moduleKey(FRAMEWORK, 'delegation_pool'), binary]
}

const stakeOf = (active: bigint): Write => [
  resourceKey(POOL, parseStructTag('0x1::delegation_pool::Stake')),
  new ByteWriter().u64(active).u64(0n).u64(0n).toBytes(),
]

const [nameModule, nameRecord] = nameServiceWrites()

/** The record of the name with another owner. */
function withOwner([key, value]: Write, owner: Uint8Array): Write {
  const changed = Buffer.from(value!)
  changed.set(owner, changed.indexOf(parseAddress(NAME.owner)))
  return [key, changed]
}

beforeAll(async () => {
  bed = new CommandBed()
  for (const [name, retain] of [
    ['demo', DEMO_WINDOW],
    ['mainnet', undefined],
  ] as const) {
    const engine = openStateEngine({ path: bed.at(`data/${name}`) })
    await ingestSource(engine, openDemoLedger(), { retain })
    if (name === 'mainnet') {
      const { latestVersion, chainId } = engine.ledger!
      const { block } = engine.blockAt(latestVersion)
      for (const [day, active] of STAKES.entries()) {
        const version = latestVersion + 1n + BigInt(day)
        const height = block.height + 1n + BigInt(day)
        const timestampUsec = FIRST_DAY_USEC + BigInt(day) * DAY_USEC
        const writes = [
          ...(day === 0 ? [delegationPool()] : []),
          // The name comes to its owner on the second day.
          ...(day === 0 ? [nameModule!, withOwner(nameRecord!, parseAddress('0xb2'))] : []),
          ...(day === 1 ? [nameRecord!] : []),
          stakeOf(active),
        ]
        await engine.commit([{ version, block: { height, epoch: block.epoch + 1n, timestampUsec }, writes }], {
          chainId,
        })
      }
    }
    await engine.close()
  }
})
afterAll(async () => {
  await bed.close()
})

const text = readFileSync(new URL('../../../../docs/recipes.md', import.meta.url), 'utf8')
const commands = [...text.matchAll(/^```text\n(.*?)^```$/gms)].flatMap(([, block]) =>
  block!
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...printed] = part.split('\n')
      return { command, printed: printed.join('\n') }
    }),
)

it('docs/recipes.md has four recipes', () => {
  expect(text.match(/^## /gm)).toHaveLength(4)
  expect(commands.length).toBeGreaterThanOrEqual(4)
})

it.each(commands)('prints the output of the documentation: $command', ({ command, printed }) => {
  const [node, program] = bed.commandLine()
  const { status, stdout, stderr } = spawnSync(
    'bash',
    ['-c', `set -o pipefail; npx() { shift 3; '${node}' '${program}' "$@"; }\n${command}`],
    { cwd: bed.folder, encoding: 'utf8' },
  )
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout).toBe(printed)
})
