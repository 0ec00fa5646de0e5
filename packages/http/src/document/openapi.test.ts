import { readFileSync } from 'node:fs'
import { createMemoryEngine } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { createLedger } from '@ledger-state/ledger'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { inject } from 'light-my-request'
import { describe, expect, it } from 'vitest'
import { createOneItemEngine } from '../../testing/one-item-server.ts'
import { createRequestListener } from '../server/create-request-listener.js'
import type { OpenApiDocument } from './openapi.js'

interface KitRequest {
  readonly id: string
  readonly area: string
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body_text?: string
}

interface Response {
  readonly headers: Record<string, { required?: boolean }>
  readonly content?: Record<string, { schema: object }>
}

interface DescribedOperation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly parameters: readonly {
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly schema: object
    readonly example?: string
  }[]
  readonly requestBody?: { readonly content: Record<string, { readonly schema: object; readonly example: object }> }
  readonly responses: Record<string, Response>
}

const engine = createMemoryEngine()
const listener = createRequestListener({ ledger: createLedger(engine), maxEventLoopDelayMs: Number.POSITIVE_INFINITY })

async function document(): Promise<OpenApiDocument> {
  return JSON.parse((await inject(listener, '/v1/spec.json')).body) as OpenApiDocument
}

describe('the OpenAPI document', () => {
  it('describes the three reads under the ids of the reference', async () => {
    const { openapi, paths } = await document()
    expect(openapi).toBe('3.1.0')
    const ids = Object.values(paths).flatMap((methods) =>
      Object.values(methods).map((one) => (one as { operationId: string }).operationId),
    )
    expect(ids).toEqual(
      expect.arrayContaining(['get_table_item', 'get_raw_table_item', 'get_account_balance', 'get_ledger_info']),
    )
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('describes the filters of events as query parameters of their own', async () => {
    const { paths } = await document()
    const { parameters } = (paths['/events/{event_type}'] as { get: DescribedOperation }).get
    const filters = parameters.find(({ name }) => name === 'filters')!
    const validate = new Ajv2020().compile(filters.schema)
    const valid = [{}, { 'field.amount': '1' }, { 'field.id.token_data_id.name': 'x' }]
    expect(valid.map((query) => validate(query))).toEqual([true, true, true])
    expect([{ 'field.': '1' }, { amount: '1' }].map((query) => validate(query))).toEqual([false, false])
  })

  it('has patterns that mean the same outside JavaScript', async () => {
    const described = await document()
    const found: string[] = []
    JSON.stringify(described, (key, value) => {
      if (key === 'pattern' && typeof value === 'string') found.push(value)
      if (key === 'patternProperties') found.push(...Object.keys(value as object))
      return value as unknown
    })
    expect(found.length).toBeGreaterThan(5)
    expect(found.filter((pattern) => pattern.includes('[^]') || pattern.includes('(?'))).toEqual([])

    const ofTypes = new RegExp(described.components.schemas.MoveType.pattern)
    const types = ['u8', '0x1::a::B<u8>', 'vector<\nu8>', 'vector<>', 'u9'].map((type) => ofTypes.test(type))
    expect(types).toEqual([true, true, true, false, false])
  })

  it('has an example of each operation, which its schemas allow and every ledger understands', async () => {
    const ofOneItem = createRequestListener({ ledger: createLedger(await createOneItemEngine()) })
    const { paths, components } = await document()
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    const isAllowed = (schema: object, value: unknown) => ajv.validate({ ...schema, components }, value)
    for (const [path, methods] of Object.entries(paths))
      for (const [method, operation] of Object.entries(methods)) {
        const { operationId, tags, parameters, requestBody } = operation as DescribedOperation
        const query = new URLSearchParams()
        let filled = `/v1${path}`
        for (const { name, in: place, required, schema, example } of parameters) {
          expect(example !== undefined || !required, `${operationId}: ${name}`).toBe(true)
          if (example === undefined) continue
          expect(isAllowed(schema, example), `${operationId}: ${name}`).toBe(true)
          if (place === 'query') query.set(name, example)
          else filled = filled.replace(`{${name}}`, example)
        }
        const body = requestBody?.content['application/json']
        if (body) expect(isAllowed(body.schema, body.example), operationId).toBe(true)
        const { statusCode } = await inject(ofOneItem, {
          method: method.toUpperCase() as 'GET' | 'POST',
          url: `${filled}?${query}`,
          ...(body && { payload: body.example }),
        })
        // For a view, an absent module is 400. The store has no index of holdings, no whole transactions, and no source of streams.
        const isAbsent = ['Holdings', 'Transactions', 'Events', 'Stream'].some((tag) => tags.includes(tag))
        const known = isAbsent ? [403] : operationId.includes('view') ? [200, 400] : [200, 404]
        expect(known, operationId).toContain(statusCode)
      }
  })

  it('has examples of the types of their parameters', async () => {
    const parameters = { address: '0x1', limit: '10', with_metadata: 'true' }
    const examples = { get_account_balances: { parameters } }
    const ofExamples = createRequestListener({ ledger: createLedger(createMemoryEngine()), examples })
    const { paths } = (await inject(ofExamples, '/v1/spec.json')).json<OpenApiDocument>()
    const described = (paths['/accounts/{address}/balances'] as { get: DescribedOperation }).get.parameters
    const shown = described.flatMap(({ name, example }) => (example === undefined ? [] : [[name, example]]))
    expect(Object.fromEntries(shown)).toEqual({ address: '0x1', limit: 10, with_metadata: true })
  })

  it('declares the status of each refusal of a wrong parameter', async () => {
    const ofOneItem = createRequestListener({ ledger: createLedger(await createOneItemEngine()) })
    const { paths } = await document()
    const wrong = [
      'proof=true',
      'ledger_version=-1',
      'ledger_version=9',
      'limit=x',
      'start=x',
      'from=9&to=1',
      'order=up',
    ]
    for (const [path, methods] of Object.entries(paths))
      for (const [method, operation] of Object.entries(methods)) {
        const { operationId, parameters, requestBody, responses } = operation as DescribedOperation
        const ofPath = parameters.filter(({ in: place }) => place === 'path')
        const filled = ofPath.reduce((text, { name, example }) => text.replace(`{${name}}`, example!), `/v1${path}`)
        for (const query of wrong) {
          const { statusCode } = await inject(ofOneItem, {
            method: method.toUpperCase() as 'GET' | 'POST',
            url: `${filled}?${query}`,
            ...(requestBody && { payload: requestBody.content['application/json']!.example }),
          })
          expect(Object.keys(responses), `${operationId} ${query}`).toContain(String(statusCode))
        }
      }
  })

  it('declares the headers of answers and errors, and promises none that is missing', async () => {
    const ofOneItem = createRequestListener({ ledger: createLedger(await createOneItemEngine()) })
    const ofNothing = createRequestListener({ ledger: createLedger(createMemoryEngine()) })
    const { paths } = await document()
    const isDescriptive = (name: string) => name.startsWith('x-') || ['etag', 'retry-after'].includes(name)
    const queries = ['', 'ledger_version=0', 'ledger_version=9', 'ledger_timestamp=2025-01-01', 'from=9&to=2025-01-01']
    for (const [path, methods] of Object.entries(paths))
      for (const [method, operation] of Object.entries(methods)) {
        const { operationId, tags, parameters, requestBody, responses } = operation as DescribedOperation
        if (tags.includes('Stream')) continue
        const ofPath = parameters.filter(({ in: place }) => place === 'path')
        const filled = ofPath.reduce((text, { name, example }) => text.replace(`{${name}}`, example!), `/v1${path}`)
        for (const listener of [ofOneItem, ofNothing])
          for (const query of queries) {
            const { statusCode, headers } = await inject(listener, {
              method: method.toUpperCase() as 'GET' | 'POST',
              url: `${filled}?${query}`,
              ...(requestBody && { payload: requestBody.content['application/json']!.example }),
            })
            const declared = responses[String(statusCode)]!.headers
            const required = Object.keys(declared).filter((name) => declared[name]!.required)
            const asked = `${operationId} ${query}: ${statusCode}`
            expect(Object.keys(declared), asked).toEqual(
              expect.arrayContaining(Object.keys(headers).filter(isDescriptive)),
            )
            expect(Object.keys(headers), asked).toEqual(expect.arrayContaining(required))
          }
      }
  })

  it('declares the answer to a client that has a balance already, and the headers of requests', async () => {
    const { paths } = await document()
    const declaredBy = (path: string, method: string) =>
      (paths[path] as Record<string, DescribedOperation>)[method]!.parameters.flatMap(({ name, in: place }) =>
        place === 'header' ? [name] : [],
      )
    const balance = '/accounts/{address}/balance/{asset_type}'
    expect((paths[balance] as { get: DescribedOperation }).get.responses).toHaveProperty('304.headers.etag')
    expect(declaredBy(balance, 'get')).toContain('If-None-Match')
    expect(declaredBy('/stream', 'get')).toContain('Last-Event-ID')
    expect(declaredBy('/graphql', 'post')).toEqual(
      expect.arrayContaining(['x-svc-ledger-version', 'x-aptos-ledger-version']),
    )
  })

  it('has the types of the chain-state headers, which errors may lack', async () => {
    const { paths } = await document()
    const { responses } = (paths['/'] as { get: DescribedOperation }).get
    const chainId = { required: true, schema: { type: 'integer', format: 'uint8', minimum: 0 } }
    expect(responses[200]!.headers['x-svc-chain-id']).toMatchObject(chainId)
    expect(responses[200]!.headers['x-aptos-epoch']).toMatchObject({ schema: { type: 'integer', format: 'uint64' } })
    expect(responses[503]!.headers['x-svc-chain-id']).toMatchObject({ ...chainId, required: false })
  })

  it('has every member of an error of a GraphQL document', async () => {
    const { paths, components } = await document()
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    const ofOneItem = createRequestListener({ ledger: createLedger(await createOneItemEngine()) })
    const { responses } = (paths['/graphql'] as { post: DescribedOperation }).post
    for (const [query, status] of [
      ['ledger_version=9', 404],
      ['', 200],
    ] as const) {
      const answer = await inject(ofOneItem, {
        method: 'POST',
        url: `/v1/graphql?${query}`,
        payload: { query: '{ unknown }' },
      })
      expect(answer.statusCode).toBe(status)
      const { schema } = responses[status]!.content!['application/json']!
      expect(ajv.validate({ ...schema, components, unevaluatedProperties: false }, answer.json())).toBe(true)
      const [error] = answer.json<{ errors: object[] }>().errors
      expect(components.schemas.GraphqlError.properties).toMatchObject(
        Object.fromEntries(Object.keys(error!).map((name) => [name, {}])),
      )
    }
  })

  it.skipIf(!hasSharedData)('holds for every answer to the conformance kit', async () => {
    const { paths, components } = await document()
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    const validators = new Map<object, ValidateFunction>()
    const check = (schema: object, value: unknown) => {
      const validate = validators.get(schema) ?? ajv.compile({ ...schema, components })
      validators.set(schema, validate)
      return validate(value) ? undefined : ajv.errorsText(validate.errors)
    }
    const routes = Object.entries(paths).map(([path, methods]) => ({
      methods,
      pattern: new RegExp(`^/v1${path === '/' ? '/?' : path.replaceAll(/\{[a-z_]+\}/g, '[^/]+')}$`),
    }))

    const source = await openSource(sharedPath('conformance/fixture.ndjson.gz'))
    for await (const record of source.versions()) await engine.commit([record], { chainId: source.chainId! })
    await engine.prune(901n)
    const requestsOf = (file: string) =>
      (JSON.parse(readFileSync(sharedPath(file), 'utf8')) as { requests: KitRequest[] }).requests
    const ofAccounts = requestsOf('conformance/account-requests.json').filter(({ area }) => area === 'fixture')
    let checked = 0
    for (const { id, method, path, headers, body_text: body } of [
      ...requestsOf('conformance/requests.json'),
      ...ofAccounts,
    ]) {
      const operations = routes.find(({ pattern }) => pattern.test(path.split('?')[0]!))?.methods
      const operation = operations?.[method === 'HEAD' ? 'get' : method.toLowerCase()] as
        | { responses: Record<string, Response>; requestBody?: { content: Record<string, { schema: object }> } }
        | undefined
      if (!operation) continue
      const { 'transfer-encoding': _, ...plain } = headers
      const answer = await inject(listener, {
        method: method as 'GET',
        url: path,
        headers: plain,
        ...(body !== undefined && { payload: body }),
      })
      const declared = operation.responses[String(answer.statusCode)]
      expect(declared, `${id}: status ${answer.statusCode} is declared`).toBeDefined()
      for (const [name, { required }] of Object.entries(declared!.headers)) {
        if (required) expect(answer.headers, `${id}: ${name}`).toHaveProperty(name)
      }
      const mediaType = String(answer.headers['content-type']).split(';')[0]!
      expect(Object.keys(declared!.content!), id).toContain(mediaType)
      if (mediaType === 'application/json' && method !== 'HEAD') {
        expect(check(declared!.content![mediaType]!.schema, JSON.parse(answer.body)), id).toBeUndefined()
      }
      if (operation.requestBody && answer.statusCode === 200) {
        expect(check(operation.requestBody.content['application/json']!.schema, JSON.parse(body!)), id).toBeUndefined()
      }
      checked++
    }
    expect(checked).toBeGreaterThan(650)
  })
})
