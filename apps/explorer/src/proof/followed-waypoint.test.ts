import { beforeEach, describe, expect, it, vi } from 'vitest'
import { followedFrom, keepFollowed, parseFollowed } from './followed-waypoint.ts'

const waypoint = (version: number) => `${version}:${'0a'.repeat(32)}`

describe('followedFrom', () => {
  beforeEach(() => {
    const stored = new Map<string, string>()
    vi.stubGlobal('localStorage', {
      getItem: (name: string) => stored.get(name) ?? null,
      setItem: (name: string, value: string) => stored.set(name, value),
    })
    return () => vi.unstubAllGlobals()
  })

  it('is the newest epoch change that was followed from the same waypoint, before the version', () => {
    expect(followedFrom(waypoint(0), '100')).toBe(waypoint(0))
    keepFollowed(waypoint(0), waypoint(50))
    keepFollowed(waypoint(0), waypoint(40))
    expect(['100', '50', '49'].map((version) => followedFrom(waypoint(0), version))).toEqual([
      waypoint(50),
      waypoint(50),
      waypoint(0),
    ])
    expect(followedFrom(waypoint(1), '100')).toBe(waypoint(1))
    keepFollowed(waypoint(0), '60')
    expect(followedFrom(waypoint(0), '100')).toBe(waypoint(50))
  })

  it('keeps those of the sixteen waypoints that were followed last', () => {
    for (let at = 0; at < 20; at++) keepFollowed(waypoint(at), waypoint(100 + at))
    expect([3, 4, 19].map((at) => followedFrom(waypoint(at), '500'))).toEqual([3, 104, 119].map(waypoint))
  })

  it('is the trusted waypoint if the browser keeps nothing', () => {
    vi.stubGlobal('localStorage', undefined)
    keepFollowed(waypoint(0), waypoint(50))
    expect(followedFrom(waypoint(0), '100')).toBe(waypoint(0))
  })
})

it('parseFollowed leaves out lines that are no waypoints', () => {
  const text = JSON.stringify({ [waypoint(1)]: waypoint(2), [waypoint(3)]: '4', five: waypoint(6) })
  expect([...parseFollowed(text)]).toEqual([[waypoint(1), waypoint(2)]])
  for (const other of [null, '', '{', 'null', '[]', '7']) expect(parseFollowed(other).size).toBe(0)
})
