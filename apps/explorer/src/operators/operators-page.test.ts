import { eventually } from '@ledger-state/testing/eventually'
import { h, render } from 'preact'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { installWindow } from '../../testing/page-bed.ts'

const sample = (seconds: number, version: number) => ({
  time: seconds * 1_000,
  values: { ledger_state_latest_version: version, ledger_state_oldest_version: 0 },
})

const HISTORY = {
  ready: true,
  processes: [
    { name: 'supervisor', state: 'running', pid: 17, restarts: 0 },
    { name: 'writer', state: 'given-up', restarts: 3 },
  ],
  ledger_version: '12345',
  oldest_ledger_version: '1000',
  samples: [sample(0, 2_000), sample(10, 2_500)],
}

const fetchOfNode = globalThis.fetch
let answer: () => Response
let place: HTMLElement

beforeEach(async () => {
  installWindow()
  answer = () => Response.json(HISTORY)
  globalThis.fetch = async () => answer()
  place = document.body.appendChild(document.createElement('div'))
})
afterEach(() => {
  render(null, place)
  place.remove()
  globalThis.fetch = fetchOfNode
})

async function shows(...texts: readonly string[]): Promise<void> {
  const { OperatorsPage } = await import('./operators-page.tsx')
  render(h(OperatorsPage, {}), place)
  const text = () => (place.textContent ?? '').replaceAll(/\s+/g, ' ')
  await eventually(
    () => texts.every((one) => text().includes(one)),
    () => `${texts.join(', ')}; the page shows: ${text()}`,
  )
}

const rows = () => [...place.querySelectorAll('tbody tr')].map((row) => [...row.children].map((one) => one.textContent))

it('shows the window, each process, and the last hour', async () => {
  await shows('Ready; versions 1 000 to 12 345', 'Versions a second50', 'Versions kept2 501')
  expect(rows()).toEqual([
    ['supervisor pid 17', 'running', '0'],
    ['writer ', 'given-up', '3'],
  ])
  expect(place.textContent).not.toContain('curves come with the second')
})

it('says why the node is not ready, and that one sample makes no curve', async () => {
  const why = '<b>no node</b> answers'
  answer = () => Response.json({ ...HISTORY, ready: false, why, samples: [sample(0, 2_000)] })
  await shows(
    'Not ready',
    why,
    'A load balancer that asks /-/ready sends no requests here.',
    'curves come with the second',
  )
  expect(place.querySelector('b')).toBeNull()
  expect(place.querySelectorAll('svg')).toHaveLength(0)
})

it('says that the node does not answer', async () => {
  answer = () => new Response('', { status: 503 })
  await shows('The node does not answer; asking again', 'curl')
  expect(place.textContent).not.toContain('Below is its last answer.')
  expect(rows()).toEqual([])
})
