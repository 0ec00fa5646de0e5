import './damage.test.js'
