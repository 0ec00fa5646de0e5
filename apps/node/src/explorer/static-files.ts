import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const PAGE = '/index.html'
/** Their names change with their content. */
const HASHED = /^\/assets\//

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The page loads nothing from elsewhere, and runs nothing but its own files. Curves set sizes in styles of elements. */
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

/** The built explorer, held in memory: some 150 kB. */
export class StaticFiles {
  readonly #files = new Map<string, StaticFile>()

  /** @param folder of the build */
  constructor(folder: string) {
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

  /** Answers a request for the page or one of its files; false for all that is the API's. */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    const { method, url = '' } = request
    const [path] = url.split('?', 1) as [string]
    if ((method !== 'GET' && method !== 'HEAD') || path === '/v1' || path.startsWith('/v1/')) return false
    const known = this.#files.get(path)
    // Any other address without a suffix is a view of the page.
    const file =
      known ?? (extname(path) === '' || path.includes('::') || wantsPage(request) ? this.#files.get(PAGE) : undefined)
    if (!file) return false
    const body = /\bbr\b/.test(request.headers['accept-encoding'] ?? '') ? (file.brotli ?? file.plain) : file.plain
    response.writeHead(200, {
      ...SECURITY_HEADERS,
      'content-type': file.type,
      'content-length': body.length,
      'cache-control': HASHED.test(path) && known ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: 'Accept-Encoding',
      ...(body === file.brotli && { 'content-encoding': 'br' }),
    })
    response.end(method === 'HEAD' ? undefined : body)
    return true
  }
}

function wantsPage({ headers }: IncomingMessage): boolean {
  return headers.accept?.includes('text/html') === true
}

/** Undefined where this program was installed without it. */
export function openExplorer(): StaticFiles | undefined {
  const folder = fileURLToPath(new URL('.', import.meta.resolve('@ledger-state/explorer/dist/index.html')))
  return existsSync(join(folder, 'index.html')) ? new StaticFiles(folder) : undefined
}
