import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createMemoryEngine } from '@ledger-state/engine'
import { createRequestListener } from '@ledger-state/http'
import { createLedger } from '@ledger-state/ledger'
import express from 'express'

const engine = createMemoryEngine()
const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
await engine.commit([{ version: 0n, block, writes: [] }], { chainId: 4 })

const app = express()
app.get('/hello', (_request, response) => {
  response.send('hello')
})
// The listener reads bodies itself: mount it before express.json() and other middleware that parses them.
app.use('/chain', createRequestListener({ ledger: createLedger(engine) }))
app.use(express.json())

const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

console.log(await (await fetch(`${url}/hello`)).text())
const answer = await fetch(`${url}/chain/v1/accounts/0x1/balance/0xa`)
console.log(answer.status, answer.headers.get('x-aptos-ledger-version'), await answer.text())
console.log((await fetch(`${url}/chain/v1/accounts/0x1/balance/0xa?ledger_version=7`)).status)
server.close()
