;;; sdm-dap.el --- sdm for dap-mode and dape  -*- lexical-binding: t -*-
;;; Commentary:
;; dap-mode: (require 'sdm-dap), then M-x dap-debug.  dape (Emacs 29.1): M-x dape, then sdm-launch, sdm-attach or
;; sdm-join.  On a login node set `sdm-dap-command' to ("ssh" "-T" "login" "sdm" "dap").
;;; Code:

(defvar sdm-dap-command '("sdm" "dap") "The command that starts the adapter.")

(with-eval-after-load 'dap-mode
  (dap-register-debug-provider
   "sdm" (lambda (conf) (plist-put conf :dap-server-path sdm-dap-command)))
  (dap-register-debug-template
   "sdm: mpirun" (list :type "sdm" :request "launch" :name "sdm: mpirun" :starter "mpirun -n 4" :program "./app"))
  (dap-register-debug-template
   "sdm: ranks on this machine" (list :type "sdm" :request "launch" :name "sdm: run" :np 4 :program "./app"))
  (dap-register-debug-template
   "sdm: attach" (list :type "sdm" :request "attach" :name "sdm: attach" :attach "PID"))
  (dap-register-debug-template
   "sdm: join" (list :type "sdm" :request "attach" :name "sdm: join" :session "")))

(with-eval-after-load 'dape
  (dolist (config '((sdm-launch :request "launch" :starter "mpirun -n 4" :program "./app")
                    (sdm-attach :request "attach" :attach "PID")
                    (sdm-join :request "attach" :session "")
                    (sdm-hang-file :request "attach" :hangFile "sdm-hang-1")))
    (add-to-list 'dape-configs
                 `(,(car config) modes (c-mode c-ts-mode c++-mode c++-ts-mode fortran-mode f90-mode)
                   command ,(car sdm-dap-command) command-args ,(vconcat (cdr sdm-dap-command))
                   :type "sdm" ,@(cdr config)))))

(provide 'sdm-dap)
;;; sdm-dap.el ends here
