import type { RequestListener } from 'node:http'
import { inject } from 'light-my-request'

/** The pages of a list, each as its items. `path` has a query. */
export async function readPages<T>(listener: RequestListener, path: string, limit: number): Promise<T[][]> {
  const pages: T[][] = []
  let cursor: unknown
  do {
    const from = cursor === undefined ? '' : `&start=${String(cursor)}`
    const { statusCode, headers, body } = await inject(listener, `${path}&limit=${limit}${from}`)
    if (statusCode !== 200) throw new Error(`${path} was answered ${statusCode}: ${body}`)
    pages.push(JSON.parse(body) as T[])
    cursor = headers['x-svc-cursor']
  } while (cursor !== undefined)
  return pages
}
