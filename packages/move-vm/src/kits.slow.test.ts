import './kits.test.js'
