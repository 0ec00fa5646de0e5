/** openapi-typescript needs the compiler's JavaScript interface, which TypeScript 7 does not have: it gets one of its own. */
function readPackage(manifest) {
  if (manifest.name === 'openapi-typescript') {
    manifest.peerDependencies = {}
    manifest.dependencies = { ...manifest.dependencies, typescript: '5.9.3' }
  }
  return manifest
}

module.exports = { hooks: { readPackage } }
