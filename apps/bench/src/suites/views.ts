import { ByteReader, ByteWriter, parseAddress } from '@ledger-state/core'
import { bytesToHexDigits, copyBytes } from '@ledger-state/core/bytes'
import { openSource } from '@ledger-state/feed'
import { createVm, type ViewCall, type ViewOutcome, type ViewState, type Vm } from '@ledger-state/move-vm'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { moduleKey, parseTypeTag } from '@ledger-state/type-tag'
import type { BenchRun } from '../run/bench-run.ts'
import { measureInRounds } from '../run/rounds.ts'
import type { Suite } from '../run/suite.ts'
import { coinBalance, delegatedStake, primaryBalance, readCoinSupply } from '../views/by-hand.ts'
import { measureHistories } from '../views/histories.ts'
import { LOOPS_BY_HAND, PROGRAM_MODULE, programModule, quoteByHand } from '../views/programs.ts'

const STATES = 'conformance/views-states-devnet.ndjson.gz'
const FRAMEWORK = parseAddress('0x1')
const OWNER = parseAddress('0x1001')
const ASSET = parseAddress('0xa')
const POOL = parseAddress('0x80781bf57cd8ba6e65193693ab5f0cd4457fa7b1258852e326b346c22f431724')
const DELEGATOR = parseAddress('0x1002')
const COIN = '0x1::aptos_coin::AptosCoin'
const QUOTE = [1_000_000_007n, 987_654_321_000_000n, 123_456_789_000_000n] as const

const UNBOUNDED = { instructions: 1e12, bytes: 1e15, reads: 1e9, readBytes: 1e12 }
const LOOP_COUNT = 10_000
const ROUNDS = { rounds: 9, milliseconds: 60 }
const ALL_ROUNDS = { tiny: { rounds: 2, milliseconds: 1 }, small: ROUNDS, medium: ROUNDS, large: ROUNDS }

interface BenchState extends ViewState {
  read(key: Uint8Array): Uint8Array | undefined
}

/** The newest state of a feed, in memory, by keys as texts. */
async function readValues(): Promise<Map<string, Uint8Array>> {
  const values = new Map<string, Uint8Array>()
  const source = await openSource(sharedPath(STATES))
  try {
    for await (const { writes } of source.versions()) {
      for (const [key, value] of writes) {
        if (value) values.set(bytesToHexDigits(key), copyBytes(value))
        else values.delete(bytesToHexDigits(key))
      }
    }
  } finally {
    await source.close()
  }
  return values
}

/** The state, with the module of the programs. */
function stateOf(feed: ReadonlyMap<string, Uint8Array>): BenchState {
  const values = new Map(feed)
  values.set(bytesToHexDigits(moduleKey(PROGRAM_MODULE.address, PROGRAM_MODULE.name)), programModule())
  const read = (key: Uint8Array) => values.get(bytesToHexDigits(key))
  return { read, moduleRevision: (key) => (read(key) ? '1' : undefined), revision: '1' }
}

function runView(vm: Vm, state: ViewState, call: ViewCall): ViewOutcome {
  const run = vm.startView(state, call, { budget: UNBOUNDED })
  for (;;) {
    const progress = run.advance(1e9)
    if (progress.kind === 'results') return progress
    if (progress.kind === 'fault') throw new Error(`${call.module}::${call.function}: ${progress.fault.message}`)
  }
}

const u64 = (value: bigint) => new ByteWriter().u64(value).toBytes()

function callOf(module: string, name: string, typeArguments: readonly string[], args: readonly Uint8Array[]): ViewCall {
  const isProgram = module === PROGRAM_MODULE.name
  return {
    address: isProgram ? PROGRAM_MODULE.address : FRAMEWORK,
    module,
    function: name,
    typeArguments: typeArguments.map((text) => parseTypeTag(text)),
    arguments: args,
  }
}

interface Case {
  readonly call: ViewCall
  /** The computation of the view written by hand, and the way to read the view's first result. */
  readonly byHand: () => unknown
  readonly readResult: (bytes: Uint8Array) => unknown
}

const readU64 = (bytes: Uint8Array) => new ByteReader(bytes).readU64()

function casesOf(state: BenchState): readonly Case[] {
  const optionalU128 = (bytes: Uint8Array) => {
    const reader = new ByteReader(bytes)
    return reader.readBool() ? reader.readWideInteger(16) : undefined
  }
  return [
    { call: callOf('coin', 'balance', [COIN], [OWNER]), byHand: () => coinBalance(state, OWNER), readResult: readU64 },
    { call: callOf('coin', 'supply', [COIN], []), byHand: () => readCoinSupply(state), readResult: optionalU128 },
    {
      call: callOf('primary_fungible_store', 'balance', ['0x1::fungible_asset::Metadata'], [OWNER, ASSET]),
      byHand: () => primaryBalance(state, OWNER, ASSET),
      readResult: readU64,
    },
    {
      call: callOf('delegation_pool', 'get_stake', [], [POOL, DELEGATOR]),
      byHand: () => delegatedStake(state, POOL, DELEGATOR)[0],
      readResult: readU64,
    },
    {
      call: callOf(PROGRAM_MODULE.name, 'quote', [], QUOTE.map(u64)),
      byHand: () => quoteByHand(...QUOTE),
      readResult: readU64,
    },
  ]
}

function resultOf(outcome: ViewOutcome): Uint8Array {
  if (outcome.kind !== 'results') throw new Error(outcome.fault.message)
  return outcome.results[0]!.bytes
}

async function measureView(run: BenchRun, state: BenchState, { call, byHand, readResult }: Case): Promise<void> {
  const title = `${call.module}::${call.function}`
  run.step(title)
  const warm = createVm()
  const result = readResult(resultOf(runView(warm, state, call)))
  if (byHand() !== result) throw new Error(`${title} is ${result}, by hand ${byHand()}`)
  const contenders = [
    { subject: 'vm, warm', role: 'ours', once: () => runView(warm, state, call) },
    // A new vm decodes all modules, and compiles each function at its first call.
    { subject: 'vm, cold', role: 'ours', once: () => runView(createVm(), state, call) },
    { subject: 'by hand in TypeScript', role: 'floor', once: byHand },
  ] as const
  const costs = await measureInRounds(
    contenders.map(({ once }) => ({ count: 1, run: once })),
    run.byScale(ALL_ROUNDS),
  )
  for (const [index, { subject, role }] of contenders.entries()) {
    run.record({ title, subject, role, metric: 'time', unit: 'ns', rounds: costs[index]!.wall })
  }
}

async function measureLoop(run: BenchRun, state: BenchState, name: keyof typeof LOOPS_BY_HAND): Promise<void> {
  run.step(`loop: ${name}`)
  const vm = createVm()
  const call = callOf(PROGRAM_MODULE.name, name, [], [u64(BigInt(LOOP_COUNT))])
  const byHand = LOOPS_BY_HAND[name]
  const outcome = runView(vm, state, call)
  const result = readU64(resultOf(outcome))
  if (result !== BigInt(byHand(LOOP_COUNT))) throw new Error(`${name} is ${result}, by hand ${byHand(LOOP_COUNT)}`)
  const [ours, floor] = await measureInRounds(
    [
      { count: LOOP_COUNT, run: () => runView(vm, state, call) },
      { count: LOOP_COUNT, run: () => byHand(LOOP_COUNT) },
    ],
    run.byScale(ALL_ROUNDS),
  )
  const title = `loop: ${name}`
  const instructions = outcome.usage.instructions / LOOP_COUNT
  run.record({ title, subject: 'vm', metric: 'time', unit: 'ns', rounds: ours!.wall })
  run.record({
    title,
    subject: 'by hand in TypeScript',
    role: 'floor',
    metric: 'time',
    unit: 'ns',
    rounds: floor!.wall,
  })
  const perSecond = ours!.wall.map((nanoseconds) => (instructions / nanoseconds) * 1e3)
  run.record({ title, subject: 'vm', metric: 'rate', unit: 'M instructions/s', better: 'higher', rounds: perSecond })
}

export const viewsSuite: Suite = {
  name: 'views',
  summary:
    'view functions on the vm, warm and cold, and loops, compared with the same written by hand over the same state; histories of a view compared with asking at every version',
  estimate: (scale) => ({ minutes: scale === 'tiny' ? 1 : 4, memoryBytes: 0.6e9, diskBytes: 0.5e9 }),
  async run(run) {
    if (!hasSharedData) {
      run.note(`left out: ${sharedPath(STATES)} is absent`)
      return
    }
    const values = await readValues()
    const state = stateOf(values)
    for (const name of ['arithmetic', 'vector', 'struct', 'table'] as const) await measureLoop(run, state, name)
    for (const one of casesOf(state)) await measureView(run, state, one)
    await measureHistories(run, values)
  },
}
