import { type Block, branchOf, type LedgerSummary, versionPruned } from '@ledger-state/engine'
import { expectBlockKept } from '@ledger-state/engine/authoring'
import { BLOCK_AT_TIME, BLOCK_BY_HEIGHT, BLOCKS_AT, type BlockRow } from './questions.js'
import { expectNotCut, type Servers } from './servers.js'
import { answerGroups, createTickBatch } from './tick-batch.js'

type Row = BlockRow & Record<string, unknown>

/** Most blocks of one statement. */
const MOST = 1_000
/** PostgreSQL's greatest `bigint`. */
const GREATEST = 2n ** 63n - 1n

interface AskedBlock {
  readonly version: bigint
  readonly ledger: LedgerSummary
}

export interface Blocks {
  /** Finds the block of a version, which must be one of the ledger's. */
  at(asked: AskedBlock): Promise<Block>
  byHeight(height: bigint, ledger: LedgerSummary): Promise<Block | undefined>
  atTime(timestampUsec: bigint, ledger: LedgerSummary): Promise<Block | undefined>
}

/** Finds blocks. One statement asks for the blocks of all versions that are asked for in one tick. */
export function createBlocks(servers: Servers): Blocks {
  async function askTogether(asked: readonly AskedBlock[]) {
    // The end of a block may depend on any later version.
    const newest = asked.map(({ ledger }) => ledger).reduce((a, b) => (a.latestVersion < b.latestVersion ? b : a))
    const answer = await servers.ask<Row>({
      name: 'blocks',
      text: BLOCKS_AT,
      values: [asked.map((one) => String(one.version))],
      version: newest.latestVersion,
      ledger: newest,
    })
    const found: (Row | undefined)[] = new Array(asked.length).fill(undefined)
    for (const row of answer.rows) found[Number(row.place) - 1] = row
    return found.map((row) => ({ row, answer }))
  }

  const at = createTickBatch(MOST, (asked: readonly AskedBlock[]) =>
    answerGroups(asked, ({ ledger }) => branchOf(ledger), askTogether),
  )

  async function find(name: string, text: string, target: bigint, ledger: LedgerSummary): Promise<Block | undefined> {
    const answer = await servers.ask<Row>({
      name,
      text,
      values: [String(ledger.oldestVersion), String(ledger.latestVersion), String(target)],
      version: ledger.latestVersion,
      ledger,
    })
    expectNotCut(ledger.latestVersion, ledger, answer)
    const [row] = answer.rows
    expectBlockKept(row, ledger, answer)
    return row && rowToBlock(row, ledger)
  }

  return {
    async at(asked) {
      const { row, answer } = await at(asked)
      expectNotCut(asked.ledger.latestVersion, asked.ledger, answer)
      const { oldestVersion } = answer
      if (!row || asked.version < oldestVersion) throw versionPruned(asked.version, oldestVersion)
      return rowToBlock(row, asked.ledger)
    },
    byHeight: async (height, ledger) =>
      height > GREATEST ? undefined : find('block by height', BLOCK_BY_HEIGHT, height, ledger),
    atTime: (timestampUsec, ledger) =>
      find('block at time', BLOCK_AT_TIME, timestampUsec > GREATEST ? GREATEST : timestampUsec, ledger),
  }
}

/** Decodes a block. The newest block of a ledger ends with its latest version, whatever was committed later. */
function rowToBlock(row: Row, { latestVersion }: LedgerSummary): Block {
  const last = row.next_version === null ? latestVersion : BigInt(row.next_version) - 1n
  return {
    firstVersion: BigInt(row.first_version),
    lastVersion: last > latestVersion ? latestVersion : last,
    block: { height: BigInt(row.height), epoch: BigInt(row.epoch), timestampUsec: BigInt(row.timestamp_usec) },
  }
}
