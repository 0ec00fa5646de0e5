import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { expect, it } from 'vitest'
import { limitsOf } from '../admission/limits.js'
import type { Route } from '../operations/parts/operation.js'
import { Exchange } from './exchange.js'
import { createServiceContext } from './service-context.js'

const ledger = createLedger(createMemoryEngine())
const ANSWER_BYTES = 1_000
const ROUTE: Route = {
  method: 'POST',
  path: '/v1/things/{name}',
  negotiates: false,
  handle() {
    throw new Error('the tests of states run no operation')
  },
}
const FOUND = { route: ROUTE, params: { name: 'a' } }

function createExchange(): Exchange {
  const { maxAnswerBytes } = limitsOf({ maxAnswerBytes: ANSWER_BYTES })
  const context = createServiceContext({ ledger, maxAnswerBytes }, () => false)
  const request = new IncomingMessage(new Socket())
  return new Exchange(request, new ServerResponse(request), context, false)
}

function createRoutedExchange(): Exchange {
  const exchange = createExchange()
  exchange.takeRoute(FOUND)
  return exchange
}

it('an exchange with a body is queued, routed, running and answered', () => {
  const exchange = createExchange()
  const states = [exchange.state.kind]
  expect(exchange.route).toBe(undefined)
  exchange.takeRoute(FOUND)
  states.push(exchange.state.kind)
  expect(exchange.route).toBe(ROUTE)
  const upload = exchange.openUpload()
  exchange.context.admission.uploads.begin(upload)
  exchange.context.admission.uploads.complete(upload, 3)
  upload.body = Buffer.from('abc')
  exchange.run(ledger)
  states.push(exchange.state.kind)
  expect(exchange.body.toString()).toBe('abc')
  expect(exchange.params).toEqual({ name: 'a' })
  expect(upload.heldBytes).toBe(3)
  exchange.end()
  states.push(exchange.state.kind)
  expect(states).toEqual(['queued', 'routed', 'running', 'answered'])
  expect(upload.heldBytes).toBe(0)
})

it('an exchange refuses transitions that its state does not have', () => {
  const exchange = createExchange()
  expect(() => exchange.openUpload()).toThrow('the exchange is queued, not routed')
  expect(() => exchange.run(ledger)).toThrow('the exchange is queued, not routed')
  exchange.takeRoute(FOUND)
  expect(() => exchange.takeRoute(FOUND)).toThrow('the exchange is routed, not queued')
  expect(() => exchange.body).toThrow('the exchange is routed, not running')
  expect(() => exchange.params).toThrow('the exchange is routed, not running')
  exchange.run(ledger)
  expect(() => exchange.run(ledger)).toThrow('the exchange is running, not routed')
  expect(() => exchange.openUpload()).toThrow('the exchange is running, not routed')
})

it('an exchange releases the memory of its answer when it runs again and when it is answered', () => {
  const exchange = createRoutedExchange()
  const { load } = exchange.context.admission
  exchange.run(ledger)
  exchange.hold(ANSWER_BYTES)
  expect(() => load.hold(1)).toThrow(expect.objectContaining({ code: 'overloaded' }))
  exchange.runAgain(ledger)
  exchange.hold(ANSWER_BYTES)
  exchange.end()
  load.hold(ANSWER_BYTES)
})

it('an operation that still runs when its exchange is answered takes no more memory', () => {
  const exchange = createRoutedExchange()
  exchange.run(ledger)
  exchange.end()
  expect(exchange.route).toBe(undefined)
  expect(() => exchange.hold(1)).toThrow(expect.objectContaining({ code: 'client_left' }))
  expect(() => exchange.runAgain(ledger)).toThrow(expect.objectContaining({ code: 'client_left' }))
  exchange.context.admission.load.hold(ANSWER_BYTES)
})
