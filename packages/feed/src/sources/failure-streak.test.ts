import { LedgerStateError } from '@ledger-state/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { FailureStreak } from './failure-streak.js'

const fork = new LedgerStateError('ledger_fork', 'version 7 differs', { version: 7n })
const otherChain = new LedgerStateError('chain_id_mismatch', 'of chain 9')

let notices: string[]
let streak: FailureStreak
beforeEach(() => {
  notices = []
  streak = new FailureStreak({ firstPauseMs: 1, onNotice: (message) => notices.push(message) })
})

describe('a streak of failures', () => {
  it('is accepted at the third of the same code, and says how many answers there were', async () => {
    await streak.add(fork)
    await streak.add(fork)
    expect(notices).toEqual(Array(2).fill(expect.stringMatching(/^version 7 differs; asking again in/)))
    await expect(streak.add(fork)).rejects.toMatchObject({
      code: 'ledger_fork',
      message: 'version 7 differs',
      fields: { version: 7n, answers: 3 },
    })
  })

  it('starts over with another code, and after a good answer', async () => {
    for (const failure of [fork, fork, otherChain, otherChain, fork, fork]) await streak.add(failure)
    streak.end()
    await streak.add(fork)
    await streak.add(fork)
    expect(notices.length).toBe(8)
  })

  it('pauses longer after each of different failures, until a good answer', async () => {
    streak = new FailureStreak({ firstPauseMs: 1_000, onNotice: (message) => notices.push(message) })
    const ended = AbortSignal.abort()
    for (let times = 0; times < 4; times++) {
      for (const failure of [fork, otherChain]) await streak.add(failure, ended)
    }
    streak.end()
    await streak.add(fork, ended)
    const pauses = notices.map((notice) => Number(/asking again in ([\d.]+) s/.exec(notice)![1]))
    for (const shortest of [pauses[0]!, pauses[8]!]) expect(pauses[7]).toBeGreaterThan(shortest * 10)
  })

  it('counts a failure that others have counted as that many answers', async () => {
    const counted = new LedgerStateError('ledger_fork', 'version 7 differs', { answers: 3 })
    await expect(streak.add(counted)).rejects.toMatchObject({ fields: { answers: 3 } })
  })

  it('ends its pause with the signal', async () => {
    const patient = new FailureStreak({ firstPauseMs: 1e9 })
    await patient.add(fork, AbortSignal.abort())
  })
})
