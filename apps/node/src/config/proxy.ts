import { usageError } from '../errors.js'

const NAMES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY']

/**
 * Sends the requests of this process, and of those that it starts, through the proxy that the environment names:
 * `HTTPS_PROXY` for `https` URLs, `HTTP_PROXY` for `http`, neither for the hosts in `NO_PROXY`. A proxy without a
 * scheme counts as `http://`. Node.js before 24.14 ignores the proxy.
 * @throws `usage` if a value is not the URL of a proxy
 */
export async function useProxyOfEnvironment(env: NodeJS.ProcessEnv = process.env): Promise<void> {
  const named = NAMES.filter((name) => env[name])
  if (named.length === 0) return
  // Loading `node:http` takes 35 ms of CPU, which commands that send nothing do not need.
  const http = await import('node:http')
  if (!('setGlobalProxyFromEnv' in http)) return
  for (const name of named) {
    const value = env[name]!
    const url = value.includes('://') ? value : `http://${value}`
    if (!URL.canParse(url))
      throw usageError(`${name}=${value} is not the URL of a proxy, such as http://proxy.example:3128`)
    env[name] = url
  }
  http.setGlobalProxyFromEnv({ ...env })
  // Child processes read the environment themselves.
  env.NODE_USE_ENV_PROXY = '1'
}
