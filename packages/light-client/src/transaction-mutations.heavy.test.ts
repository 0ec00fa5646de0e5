import { bytesToHex, isLedgerStateError } from '@ledger-state/core'
import { createRequestListener } from '@ledger-state/http'
import { createSignedTransactions } from '@ledger-state/http/testing/signed-transactions'
import { createLedger } from '@ledger-state/ledger'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { inject } from 'light-my-request'
import { beforeAll, describe, expect, it } from 'vitest'
import { rememberingBls } from '../testing/remembering-bls.ts'
import { verifyEventAnswer, verifyTransactionAnswer } from './verify-transaction-answer.js'

type Member = string | number | readonly string[]
interface Answer {
  readonly value: unknown
  readonly proof: Readonly<Record<string, Member>>
}
interface Node {
  readonly waypoint: string
  ask(path: string, accept?: string): Promise<Uint8Array>
}

const EVENTS = '/accounts/0x0/events/0'
const STREAM = { kind: 'stream', address: '0x0', creationNumber: 0n } as const
/** Changes of one byte in each kind of answer. */
const CHANGES = isSlowRun ? 4_000 : 40
const bls = rememberingBls()

async function createNode(seed: number): Promise<Node & { readonly signed: readonly bigint[] }> {
  const made = await createSignedTransactions({ seed })
  const listener = createRequestListener({
    ledger: createLedger(made.engine),
    proofs: made.proofs,
    maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
  })
  return {
    waypoint: made.waypoint,
    signed: made.signed,
    async ask(path, accept = 'application/json') {
      const { statusCode, rawPayload } = await inject(listener, { url: `/v1${path}`, headers: { accept } })
      expect([path, statusCode, new TextDecoder().decode(rawPayload).slice(0, 300)]).toEqual([
        path,
        200,
        expect.any(String),
      ])
      return new Uint8Array(rawPayload)
    },
  }
}

const parse = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes))

/** What an accepted answer says, without the parts that a waypoint does not cover. */
type Said = readonly unknown[]

/** An answer of a kind, other answers with members to exchange, and the verification of a changed answer. */
interface Kind {
  readonly answer: Answer
  readonly others: Readonly<Record<string, Answer>>
  readonly bcs: Uint8Array
  verify(answer: unknown): Promise<Said>
}

describe(`a changed answer (TEST_SEED=${testSeed()})`, () => {
  const kinds = new Map<'transaction' | 'event', Kind>()
  beforeAll(async () => {
    const node = await createNode(3)
    const otherChain = await createNode(4)
    const { waypoint } = node
    // Versions that different ledger infos cover, so that the signatures of one are older.
    const [first, second] = [21n, 100n]
    expect(node.signed.filter((version) => version >= first && version < second).length).toBeGreaterThan(0)
    const byVersion = ({ waypoint: from }: Node, version: bigint) =>
      `/transactions/by_version/${version}?proof=true&proof_from=${from}`
    const transactionOf = async (from: Node, version: bigint) =>
      parse(await from.ask(byVersion(from, version))) as Answer
    kinds.set('transaction', {
      answer: await transactionOf(node, second),
      others: {
        'an older one': await transactionOf(node, first),
        'the one before': await transactionOf(node, second - 1n),
        'the same of another chain': await transactionOf(otherChain, second),
      },
      bcs: await node.ask(byVersion(node, second), 'application/x-bcs'),
      async verify(answer) {
        const { version, info, hash, transaction, events, writeSet, isSuccess } = await verifyTransactionAnswer(
          answer,
          {
            waypoint,
            bls,
          },
        )
        const datas = events.map(({ data }) => bytesToHex(data))
        const parts = [info, hash, transaction].map(bytesToHex)
        return [version, ...parts, datas, writeSet && bytesToHex(writeSet), isSuccess]
      },
    })
    const endings = (await transactionOf(node, second)).proof.epoch_endings as readonly string[]
    const readEndings = async () => endings.map((text) => Buffer.from(text.slice(2), 'hex'))
    const eventsOf = async (from: Node, start: number) =>
      parse(await from.ask(`${EVENTS}?proof=true&start=${start}`)) as readonly Answer[]
    const bcs = await node.ask(`${EVENTS}?proof=true&start=12&limit=1`, 'application/x-bcs')
    kinds.set('event', {
      answer: (await eventsOf(node, 12))[0]!,
      others: {
        'an older one': (await eventsOf(node, 2))[0]!,
        'the next one': (await eventsOf(node, 13))[0]!,
        'the same of another chain': (await eventsOf(otherChain, 12))[0]!,
      },
      // A list of one item.
      bcs: bcs.subarray(1),
      async verify(answer) {
        const options = { waypoint, bls, readEndings, question: STREAM }
        const { version, info, hash, event, index, isSuccess } = await verifyEventAnswer(answer, options)
        return [version, bytesToHex(info), bytesToHex(hash), event.key, bytesToHex(event.data), index, isSuccess]
      },
    })
  })

  /** Checks that a change is refused with an error of ours, or that the verified parts are the same. */
  async function expectRefused({ verify }: Kind, changed: unknown, original: Said, what: string): Promise<boolean> {
    let found: Said
    try {
      found = await verify(changed)
    } catch (error) {
      expect(isLedgerStateError(error), `${what}: ${error}`).toBe(true)
      return true
    }
    expect(found, `accepted: ${what}`).toEqual(original)
    return false
  }

  describe.each(['transaction', 'event'] as const)('about one %s is refused', (name) => {
    it('with members of other proofs, in any choice', async () => {
      const kind = kinds.get(name)!
      const original = await kind.verify(kind.answer)
      const { value, proof } = kind.answer
      const names = Object.keys(proof)
      for (const [whose, other] of Object.entries(kind.others)) {
        for (let choice = 1; choice < 2 ** names.length; choice++) {
          const taken = names.filter((_, at) => (choice >> at) % 2 === 1)
          const changed = { ...proof, ...Object.fromEntries(taken.map((member) => [member, other.proof[member]])) }
          // The event changes may be the same, or fewer.
          const isSame =
            JSON.stringify({ ...changed, epoch_endings: [] }) === JSON.stringify({ ...proof, epoch_endings: [] })
          const isRefused = await expectRefused(kind, { value, proof: changed }, original, `${taken} of ${whose}`)
          if (!isSame) expect(isRefused, `${taken} of ${whose}`).toBe(true)
        }
        expect(await expectRefused(kind, { value: other.value, proof }, original, `the value of ${whose}`)).toBe(true)
      }
    })

    it('with a member dropped, repeated, renamed or of another kind', async () => {
      const kind = kinds.get(name)!
      const original = await kind.verify(kind.answer)
      const { value, proof } = kind.answer
      for (const member of Object.keys(proof)) {
        const { [member]: taken, ...rest } = proof
        const lists = Array.isArray(taken)
          ? [
              [...taken, ...taken],
              taken.slice(1),
              taken.slice(0, -1),
              taken.toReversed(),
              [...taken, `0x${'00'.repeat(32)}`],
            ]
          : [[taken], [[taken]]]
        const others = [undefined, null, '', '0x', '0x0', 0, -1, 1.5, 2 ** 32, true, {}, [], ...lists, `${taken} `]
        const upper =
          typeof taken === 'string' ? [taken.toUpperCase().replace('0X', '0x'), `${taken}0`, `${taken}00`] : []
        for (const next of [...others, ...upper]) {
          if (JSON.stringify(next) === JSON.stringify(taken)) continue
          const what = `${member}: ${JSON.stringify(next)?.slice(0, 80)}`
          await expectRefused(kind, { value, proof: { ...rest, [member]: next } }, original, what)
        }
        const isRefused = await expectRefused(
          kind,
          { value, proof: { ...rest, [`${member}_`]: taken } },
          original,
          member,
        )
        expect(isRefused, member).toBe(true)
        const added = { value, proof: { ...proof, [`${member}_`]: taken } }
        expect(await expectRefused(kind, added, original, `${member} added`)).toBe(true)
      }
    })

    it('with any byte of a member changed', async () => {
      const kind = kinds.get(name)!
      const original = await kind.verify(kind.answer)
      const random = createRandom(testSeed())
      const { value, proof } = kind.answer
      const members = Object.keys(proof).filter((member) => typeof proof[member] !== 'number')
      for (let times = 0; times < CHANGES; times++) {
        const member = members[times % members.length]!
        const taken = proof[member]
        const list = Array.isArray(taken) ? [...(taken as readonly string[])] : [taken as string]
        if (list.length === 0) continue
        const at = random.below(list.length)
        if (!list[at]!.startsWith('0x') || list[at] === '0x') continue
        list[at] = changedHex(list[at]!, random)
        const changed = { value, proof: { ...proof, [member]: Array.isArray(taken) ? list : list[0] } }
        await expectRefused(kind, changed, original, `${member} ${at}: ${list[at]}`)
      }
    })

    it('with any byte of its BCS changed or missing', async () => {
      const kind = kinds.get(name)!
      const original = await kind.verify(kind.bcs)
      const random = createRandom(testSeed())
      for (let times = 0; times < CHANGES; times++) {
        const at = random.below(kind.bcs.length)
        const changed = times % 5 === 0 ? kind.bcs.subarray(0, at) : Uint8Array.from(kind.bcs)
        if (times % 5 !== 0) changed[at]! ^= 1 + random.below(255)
        await expectRefused(kind, changed, original, `byte ${at} of ${changed.length}`)
      }
      expect(await expectRefused(kind, Uint8Array.from([...kind.bcs, 0]), original, 'a byte more')).toBe(true)
    })
  })
})

function changedHex(text: string, random: Random): string {
  const bytes = Buffer.from(text.slice(2), 'hex')
  bytes[random.below(bytes.length)]! ^= 1 + random.below(255)
  return bytesToHex(bytes)
}
