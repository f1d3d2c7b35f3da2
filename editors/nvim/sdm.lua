-- sdm for nvim-dap: require('dap') must be there. In init.lua: dofile('/path/to/sdm.lua')
local dap = require('dap')

dap.adapters.sdm = { type = 'executable', command = 'sdm', args = { 'dap' } }
-- on a login node: command = 'ssh', args = { '-T', 'login', 'sdm', 'dap' }

local function ask(prompt, default)
  return function() return vim.fn.input(prompt, default or '', 'file') end
end

local sdm = {
  { type = 'sdm', request = 'launch', name = 'sdm: mpirun', starter = ask('starter: ', 'mpirun -n 4'), program = ask('program: ', vim.fn.getcwd() .. '/') },
  { type = 'sdm', request = 'launch', name = 'sdm: ranks on this machine', np = 4, program = ask('program: ', vim.fn.getcwd() .. '/') },
  { type = 'sdm', request = 'attach', name = 'sdm: attach to a job', attach = ask('PID of mpirun, slurm:JOB, ...: ') },
  { type = 'sdm', request = 'attach', name = 'sdm: join a session', session = '' },
  { type = 'sdm', request = 'attach', name = 'sdm: hang file', hangFile = ask('hang file: ') },
}
for _, language in ipairs({ 'c', 'cpp', 'fortran' }) do
  dap.configurations[language] = vim.list_extend(dap.configurations[language] or {}, sdm)
end

-- What nvim-dap has no view for: :SdmWaits, :SdmStacks, :SdmFocus SET, :SdmStat EXPR, :SdmPin RANKS
local function request(name, arguments)
  local session = dap.session()
  if not session then return vim.notify('no session of sdm', vim.log.levels.ERROR) end
  session:request(name, arguments or vim.empty_dict(), function(err, answer)
    require('dap.repl').append(err and err.message or answer.text or ('[' .. answer.ranks .. ']'))
  end)
end
vim.api.nvim_create_user_command('SdmWaits', function() request('sdm/waits') end, {})
vim.api.nvim_create_user_command('SdmStacks', function() request('sdm/stackTree') end, {})
vim.api.nvim_create_user_command('SdmFocus', function(o) request('sdm/focus', { set = o.args }) end, { nargs = 1 })
vim.api.nvim_create_user_command('SdmPin', function(o) request('sdm/pin', { ranks = o.args }) end, { nargs = 1 })
vim.api.nvim_create_user_command('SdmStat', function(o) request('sdm/stat', { expression = o.args }) end, { nargs = '+' })
