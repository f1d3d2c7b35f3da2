-- A client that sends what nvim-dap sends: seq from 0, [] for no arguments. sdm has no registry with nvim-dap itself, so
-- this tries the adapter with Neovim: nvim --headless -u NONE -l or -c 'luafile client.lua'; SDM names the program.
local uv = vim.loop
local stdin, stdout = uv.new_pipe(false), uv.new_pipe(false)
local seq, buffer, waiting, events, over = 0, '', {}, {}, false

local function fail(why)
  io.stderr:write(why .. '\n')
  vim.cmd('cquit 1')
end
local function take(m)
  if m.type == 'response' then
    waiting[m.request_seq] = m
  else
    events[m.event] = m
  end
end
local process = uv.spawn(os.getenv('SDM') or 'sdm', { args = { 'dap' }, stdio = { stdin, stdout, 2 } }, function() over = true end)
if not process then fail('sdm cannot be started') end
stdout:read_start(function(_, chunk)
  buffer = buffer .. (chunk or '')
  while true do
    local from, to, n = buffer:find('^Content%-Length: (%d+)\r\n\r\n')
    if not from or #buffer < to + tonumber(n) then return end
    local body = buffer:sub(to + 1, to + tonumber(n))
    buffer = buffer:sub(to + tonumber(n) + 1)
    vim.schedule(function() take(vim.fn.json_decode(body)) end)
  end
end)
local function ask(command, arguments)
  local body = vim.fn.json_encode({ seq = seq, type = 'request', command = command, arguments = arguments or {} })
  stdin:write(('Content-Length: %d\r\n\r\n%s'):format(#body, body))
  local mine = seq
  seq = seq + 1
  if not vim.wait(30000, function() return waiting[mine] ~= nil end, 5) then fail('no answer to ' .. command) end
  if not waiting[mine].success then fail(command .. ': ' .. waiting[mine].message) end
  return waiting[mine].body
end
local function await(event)
  if not vim.wait(30000, function() return events[event] ~= nil end, 5) then fail('no ' .. event) end
  local body = events[event].body
  events[event] = nil
  return body
end

ask('initialize', { adapterID = 'nvim-dap', clientID = 'neovim', linesStartAt1 = true, columnsStartAt1 = true, pathFormat = 'path' })
ask('launch', { sim = true, np = 8, stopOnEntry = true })
await('initialized')
ask('setBreakpoints', { source = { path = 'work.c', name = 'work.c' }, breakpoints = { { line = 22 } }, lines = { 22 } })
ask('setExceptionBreakpoints', { filters = {} })
ask('configurationDone')
local stopped = await('stopped')
local threads = ask('threads').threads
if #threads ~= 1 or threads[1].name ~= '[0-7] (8) main work.c:20' then fail('threads: ' .. vim.inspect(threads)) end
local frame = ask('stackTrace', { threadId = stopped.threadId }).stackFrames[1]
local scopes = ask('scopes', { frameId = frame.id }).scopes
ask('variables', { variablesReference = scopes[1].variablesReference })
ask('next', { threadId = stopped.threadId, granularity = 'statement' })
await('stopped')
ask('disconnect', { restart = false, terminateDebuggee = vim.NIL })
if not vim.wait(10000, function() return over end, 5) then fail('sdm dap goes on after disconnect') end
print('ok')
vim.cmd('qall!')
