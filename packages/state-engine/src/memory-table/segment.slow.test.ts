import './segment.test.js'
