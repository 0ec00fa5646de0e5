import './rest-node.test.js'
