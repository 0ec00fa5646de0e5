import { beforeEach, describe, expect, it } from 'vitest'
import { KNOWN_WAYPOINTS } from './known-waypoints.ts'
import { chooseWaypoint, isWaypoint, parseChosen, trustedWaypoint } from './trusted-waypoint.ts'

const HASH = '0a'.repeat(32)
const [genesis, later] = KNOWN_WAYPOINTS['1'] as [string, string]

describe('trustedWaypoint', () => {
  beforeEach(() => chooseWaypoint('1', undefined))

  it('is a waypoint of the network, preferably the one of the node', () => {
    expect(trustedWaypoint('1', genesis, '2000000000')).toEqual({ waypoint: genesis, saidBy: 'network' })
    expect(trustedWaypoint('1', `7:${HASH}`, '2000000000')).toEqual({ waypoint: later, saidBy: 'network' })
    expect(trustedWaypoint('1', null, '1638030464')).toEqual({ waypoint: genesis, saidBy: 'network' })
  })

  it('is the waypoint of the node if no network is known and the node has one', () => {
    expect(trustedWaypoint('77', `7:${HASH}`, '9')).toEqual({ waypoint: `7:${HASH}`, saidBy: 'node' })
    expect(trustedWaypoint('77', null, '9')).toBe(undefined)
  })

  it("is the visitor's choice for the chain, until that is taken back", () => {
    chooseWaypoint('1', `8:${HASH}`)
    expect(trustedWaypoint('1', genesis, '9')).toEqual({ waypoint: `8:${HASH}`, saidBy: 'visitor' })
    expect(trustedWaypoint('77', genesis, '9')).toMatchObject({ saidBy: 'node' })
    chooseWaypoint('1', undefined)
    expect(trustedWaypoint('1', genesis, '9')).toMatchObject({ saidBy: 'network' })
  })
})

describe('parseChosen', () => {
  it('keeps a valid waypoint', () => {
    expect(parseChosen(`{"1":"7:${HASH}","2":"7","3":4}`)).toEqual({ 1: `7:${HASH}` })
    for (const text of [null, '', '{', 'null', '[]', '"x"', '7']) expect(parseChosen(text)).toEqual({})
    expect([`7:${HASH}`, `7:${HASH}0`, `-7:${HASH}`, `7:${HASH.toUpperCase()}`, HASH].map(isWaypoint)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ])
  })
})
