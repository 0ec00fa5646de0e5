import './repack-latest.test.js'
