// Checks the licences of all production dependencies, and their advisories if the registry has any.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Permissive licences, compatible with Apache-2.0. */
const ALLOWED = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'Unlicense',
  'Zlib',
]

const root = fileURLToPath(new URL('..', import.meta.url))

interface Listed {
  readonly path?: string
  readonly dependencies?: Readonly<Record<string, Listed>>
}

const listing = execFileSync('npx', ['-y', 'pnpm', 'list', '-r', '--prod', '--depth', 'Infinity', '--json'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 2 ** 28,
  stdio: ['ignore', 'pipe', 'ignore'],
})
const paths = new Set<string>()
collect(JSON.parse(listing) as Listed[])

let passed = 0
const failures: string[] = []
for (const path of [...paths].sort()) {
  const { name, version, license } = JSON.parse(readFileSync(`${path}/package.json`, 'utf8')) as Record<string, unknown>
  if (isAllowed(String(license))) passed++
  else failures.push(`${name} ${version}: its licence ${JSON.stringify(license)} is none of ${ALLOWED.join(', ')}`)
}
audit()
for (const failure of failures) process.stdout.write(`${failure}\n`)
process.stdout.write(`${passed} passed, ${failures.length} failed\n`)
process.exitCode = failures.length > 0 ? 1 : 0

function collect(listed: readonly Listed[]): void {
  for (const { path, dependencies = {} } of listed) {
    // The list also has prebuilt binaries for other systems, which are not installed.
    if (path?.includes('node_modules') && existsSync(path)) paths.add(path)
    collect(Object.values(dependencies))
  }
}

/** Whether a licence is allowed. One of `(A OR B)` is enough, and all of `(A AND B)` are needed. */
function isAllowed(license: string): boolean {
  return license
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((one) => ALLOWED.includes(one)))
}

function audit(): void {
  const { stdout, stderr } = spawnSync('npx', ['-y', 'pnpm', 'audit', '--prod', '--json'], {
    cwd: root,
    encoding: 'utf8',
  })
  const found = stdout.trimStart().startsWith('{') ? (JSON.parse(stdout) as AuditReport) : undefined
  if (!found?.metadata) {
    process.stdout.write(`not audited: the registry answers no advisories here (${firstLine(stderr || stdout)})\n`)
    return
  }
  const { high = 0, critical = 0 } = found.metadata.vulnerabilities
  if (high + critical > 0) failures.push(`${critical} critical and ${high} high advisories; see pnpm audit --prod`)
  else passed++
}

interface AuditReport {
  readonly metadata?: { readonly vulnerabilities: { readonly high?: number; readonly critical?: number } }
}

function firstLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.find((line) => /ERR|respond/.test(line)) ?? lines[0]!
}
