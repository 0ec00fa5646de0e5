import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { acceptsCoding } from '@ledger-state/http'

/** Paths with names that change with their content. */
const HASHED = /^\/assets\//

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The page loads nothing from elsewhere and runs only its own files. Curves set sizes in the styles of elements. */
const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

interface StaticFile {
  readonly type: string
  readonly plain: Buffer
  readonly brotli: Buffer | undefined
}

/** A built page with its files, held in memory, about 150 kB. */
export class StaticFiles {
  readonly #files = new Map<string, StaticFile>()

  readonly #page: string
  readonly #isView: (path: string, request: IncomingMessage) => boolean

  /**
   * @param folder folder of the build
   * @param page file that is the answer for the page's views
   */
  constructor(folder: string, page: string, isView: (path: string, request: IncomingMessage) => boolean) {
    this.#page = page
    this.#isView = isView
    for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const type = TYPES[extname(path)]
      if (type === undefined) continue
      const file = join(folder, path)
      const packed = `${file}.br`
      this.#files.set(`/${relative(folder, file).replaceAll('\\', '/')}`, {
        type,
        plain: readFileSync(file),
        brotli: existsSync(packed) ? readFileSync(packed) : undefined,
      })
    }
  }

  /** Answers a request for the page or one of its files. Returns false for all others. */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    const { method, url = '' } = request
    const [path] = url.split('?', 1) as [string]
    if (method !== 'GET' && method !== 'HEAD') return false
    const known = this.#files.get(path)
    const file = known ?? (this.#isView(path, request) ? this.#files.get(this.#page) : undefined)
    if (!file) return false
    const body = acceptsCoding(request.headers['accept-encoding'] as string | undefined, 'br')
      ? (file.brotli ?? file.plain)
      : file.plain
    response.writeHead(200, {
      ...SECURITY_HEADERS,
      'content-type': file.type,
      'content-length': body.length,
      'cache-control': HASHED.test(path) && known ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: known ? 'Accept-Encoding' : 'Accept, Accept-Encoding',
      ...(body === file.brotli && { 'content-encoding': 'br' }),
    })
    response.end(method === 'HEAD' ? undefined : body)
    return true
  }
}

/**
 * Whether a request is for a view. Browsers ask for views by paths that the page reads. Programs get 404 for everything
 * except files, and `/` unless they ask for JSON.
 */
export function isExplorerView(path: string, { headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const accept = headers.accept?.toLowerCase() ?? ''
  return accept.includes('text/html') || (path === '/' && !accept.includes('application/json'))
}

/** The page that shows the ledger; undefined if this program was installed without it. */
export function openExplorer(): StaticFiles | undefined {
  return openPage('index.html', isExplorerView)
}

/** The page that shows the node to its operator; undefined if this program was installed without it. */
export function openOperatorsPage(): StaticFiles | undefined {
  return openPage('operators.html', (path) => path === '/')
}

function openPage(name: string, isView: (path: string, request: IncomingMessage) => boolean): StaticFiles | undefined {
  const folder = fileURLToPath(new URL('.', import.meta.resolve('#explorer/index.html')))
  return existsSync(join(folder, name)) ? new StaticFiles(folder, `/${name}`, isView) : undefined
}
