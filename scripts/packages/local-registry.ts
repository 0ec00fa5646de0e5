import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { PackedPackage } from './pack-packages.ts'

export interface LocalRegistry {
  /**
   * Environment for npm, in which the packages of our scope come from this registry, and all others from their usual
   * one.
   */
  readonly environment: Readonly<Record<string, string>>
  /** URLs of the packages without a scope, by their names: npm looks for these names in its usual registry. */
  readonly tarballs: Readonly<Record<string, string>>
  close(): void
}

/** Starts a registry on loopback, in this process, that serves the packed packages as if they were published. */
export async function startLocalRegistry(packed: readonly PackedPackage[]): Promise<LocalRegistry> {
  const server: Server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url!, 'http://localhost').pathname)
    const asTarball = packed.find(({ manifest }) => path === tarballPath(manifest.name))
    const asPackage = packed.find(({ manifest }) => path === `/${manifest.name}`)
    if (asTarball) response.end(readFileSync(asTarball.tarball))
    else if (asPackage) {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(packument(asPackage, addressOf(server))))
    } else response.writeHead(404).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const unscoped = packed.map(({ manifest }) => manifest.name).filter((name) => !name.startsWith('@'))
  return {
    tarballs: Object.fromEntries(unscoped.map((name) => [name, `${addressOf(server)}${tarballPath(name)}`])),
    environment: { 'npm_config_@ledger-state:registry': `${addressOf(server)}/` },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function tarballPath(name: string): string {
  return `/${name}/-/package.tgz`
}

/** Answer of a registry for the name of a package. */
function packument({ manifest, integrity }: PackedPackage, address: string): unknown {
  const { name, version } = manifest
  const dist = { tarball: `${address}${tarballPath(name)}`, integrity }
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }
}
