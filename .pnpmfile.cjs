/** These need the compiler's JavaScript interface, which TypeScript 7 does not have: each gets a compiler of its own. */
const NEEDS_COMPILER_API = new Set(['openapi-typescript', 'dependency-cruiser'])

function readPackage(manifest) {
  if (NEEDS_COMPILER_API.has(manifest.name)) {
    manifest.peerDependencies = {}
    manifest.dependencies = { ...manifest.dependencies, typescript: '5.9.3' }
  }
  return manifest
}

module.exports = { hooks: { readPackage } }
