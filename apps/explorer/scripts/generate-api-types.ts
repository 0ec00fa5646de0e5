// Writes `generated/open-api.ts`: the types of requests and answers, from the OpenAPI document that a node serves.

import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createMemoryEngine } from '@ledger-state/engine'
import { createHttpServer } from '@ledger-state/http'
import { createLedger } from '@ledger-state/ledger'
import openApiTypes, { astToString, type OpenAPI3 } from 'openapi-typescript'

const FILE = fileURLToPath(new URL('../generated/open-api.ts', import.meta.url))

async function readDocument(): Promise<OpenAPI3> {
  const server = createHttpServer({ ledger: createLedger(createMemoryEngine()) })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  try {
    const { port } = server.address() as AddressInfo
    const answer = await fetch(`http://127.0.0.1:${port}/v1/spec.json`)
    return (await answer.json()) as OpenAPI3
  } finally {
    server.close()
  }
}

const types = astToString(await openApiTypes(await readDocument(), { immutable: true, emptyObjectsUnknown: true }))
// A build and a type check may run at the same time, and each must see a whole file.
if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== types) {
  mkdirSync(dirname(FILE), { recursive: true })
  const draft = `${FILE}.${process.pid}`
  writeFileSync(draft, types)
  renameSync(draft, FILE)
}
