import { describe, expect, it } from 'vitest'
import { WaitingConnections } from './waiting-connections.js'

interface Waiting {
  readonly address: string
  readonly name: string
}

function waitingOf(names: string): WaitingConnections<Waiting> {
  const waiting = new WaitingConnections<Waiting>()
  for (const name of names.split(' ')) waiting.add({ address: name[0]!, name })
  return waiting
}

/** Takes connections as long as there is room, as the dispatcher does. */
function takeSome(waiting: WaitingConnections<Waiting>, count: number): string {
  const taken: string[] = []
  for (const connection of waiting) {
    if (taken.length === count) break
    taken.push(connection.name)
    waiting.take(connection)
  }
  return taken.join(' ')
}

describe('connections that wait', () => {
  it('are taken from each address in turn, and within an address in their order', () => {
    const waiting = waitingOf('a1 a2 a3 a4 b1 c1 b2')
    expect([...waiting].map(({ name }) => name).join(' ')).toBe('a1 b1 c1 a2 b2 a3 a4')
    expect(takeSome(waiting, 10)).toBe('a1 b1 c1 a2 b2 a3 a4')
    expect([...waiting]).toEqual([])
  })

  it('are taken in turn even if there is room for only a few at a time', () => {
    const waiting = waitingOf('a1 a2 a3 b1 b2')
    expect(takeSome(waiting, 1)).toBe('a1')
    waiting.add({ address: 'c', name: 'c1' })
    expect(takeSome(waiting, 2)).toBe('b1 a2')
    expect(takeSome(waiting, 3)).toBe('c1 b2 a3')
  })

  it('give way to others if there are too many: the newest of the address that has the most', () => {
    const waiting = waitingOf('b1 a1 a2 b2 a3')
    const names = []
    for (let one = waiting.newestOfTheMost(); one; one = waiting.newestOfTheMost()) {
      names.push(one.name)
      waiting.delete(one)
    }
    expect(names.join(' ')).toBe('a3 b2 a2 b1 a1')
  })
})
