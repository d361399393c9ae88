// Asks a server for IDs by node-redis and ioredis: clients.js PORT. A server that needs a token gets the token of the variable TOKEN.
import assert from 'node:assert/strict'
import Redis6 from 'ioredis'
import Redis5 from 'ioredis5'
import * as redis6 from 'redis'
import * as redis5 from 'redis5'

const port = Number(process.argv[2])
const password = process.env.TOKEN || undefined
const seen = new Set()

// see checks an ID of Nanoflake, which comes exactly once. A number that was rounded fails.
function see(id, type) {
  assert.equal(typeof id, type)
  const text = String(id)
  assert.match(text, /^[0-9]{18}$/)
  assert(BigInt(text) > 2n ** 53n)
  assert(!seen.has(text), `${text} came twice`)
  seen.add(text)
}

for (const [name, { createClient, RESP_TYPES }] of Object.entries({ 'node-redis 5': redis5, 'node-redis 6': redis6 })) {
  // RESP3: IDs are BigInt without a setting.
  const three = createClient({ socket: { host: '127.0.0.1', port }, password, RESP: 3 })
  three.on('error', error => { throw error })
  await three.connect()
  see(await three.incr('nanoflake'), 'bigint')
  see(await three.incrBy('nanoflake', 1), 'bigint')
  see(await three.sendCommand(['INCR', 'nanoflake']), 'bigint')
  const [first, count] = await three.sendCommand(['FIRN.RUN', 'nanoflake', '10'])
  for (let i = 0n; i < BigInt(count); i++) see(first + i, 'bigint')
  for (const id of await Promise.all(Array.from({ length: 200 }, () => three.incr('nanoflake')))) see(id, 'bigint')
  for (const id of await three.sendCommand(['FIRN.NEXT', 'sno', '3'])) assert.match(id, /^[2-9a-x]{16}$/)
  await assert.rejects(three.incr('sno'), /^.*ERR form: .*FIRN\.NEXT/)
  await assert.rejects(three.get('nanoflake'), /ERR path: unknown command GET/)
  await three.close()

  // RESP2: IDs are strings with one setting, and rounded without.
  const two = createClient({ socket: { host: '127.0.0.1', port }, password, RESP: 2, commandOptions: { typeMapping: { [RESP_TYPES.NUMBER]: String } } })
  two.on('error', error => { throw error })
  await two.connect()
  see(await two.incr('nanoflake'), 'string')
  see(await two.sendCommand(['INCR', 'nanoflake']), 'string')
  assert.equal(typeof await two.withTypeMapping({}).incr('nanoflake'), 'number')
  await two.close()
  console.log(name, 'ok')
}

// Version 5 of ioredis speaks RESP2 alone, and rounds without stringNumbers. Version 6 speaks RESP3.
for (const [name, Redis, options, type] of [
  ['ioredis 5', Redis5, { stringNumbers: true }, 'string'],
  ['ioredis 6', Redis6, {}, 'string'],
  ['ioredis 6, RESP2', Redis6, { protocol: 2, stringNumbers: true }, 'string'],
]) {
  const client = new Redis({ host: '127.0.0.1', port, password, ...options })
  client.on('error', error => { throw error })
  see(await client.incr('nanoflake'), type)
  see(await client.incrby('nanoflake', 1), type)
  for (const [error, id] of await client.pipeline().incr('nanoflake').incr('nanoflake').exec()) {
    assert.equal(error, null)
    see(id, type)
  }
  const [first, count] = await client.call('FIRN.RUN', 'nanoflake', 10)
  for (let i = 0n; i < BigInt(count); i++) see(BigInt(first) + i, 'bigint')
  for (const id of await client.call('FIRN.NEXT', 'sno', 3)) assert.match(id, /^[2-9a-x]{16}$/)
  await assert.rejects(client.incr('sno'), /ERR form: .*FIRN\.NEXT/)
  await client.quit()
  console.log(name, 'ok')
}
