;;; test.el --- dap-mode drives sdm in batch  -*- lexical-binding: t -*-
;;; Commentary:
;; emacs --batch -l editors/emacs/test.el, with Debian's elpa-dap-mode; SDM names the program.
;;; Code:
(package-initialize)
(require 'dap-mode)
(load (expand-file-name "sdm-dap.el" (file-name-directory load-file-name)) nil t)
(setq sdm-dap-command (list (or (getenv "SDM") "sdm") "dap"))
(setq dap-auto-configure-features nil dap-print-io nil)

(defvar test-stops 0)
(defvar test-over nil)
(defun test-await (what f)
  "Wait until F is true, or fail with WHAT."
  (let ((n 0))
    (while (and (not (funcall f)) (< n 600))
      (accept-process-output nil 0.05)
      (setq n (1+ n)))
    (unless (funcall f) (message "no %s" what) (kill-emacs 1))))

(add-hook 'dap-stopped-hook (lambda (_) (setq test-stops (1+ test-stops))))
(add-hook 'dap-terminated-hook (lambda (_) (setq test-over t)))
(advice-add 'dap--go-to-stack-frame :override #'ignore) ; there is no window
(dap-start-debugging (dap-variables-expand-in-launch-configuration
                      (funcall (gethash "sdm" dap--debug-providers)
                               (list :type "sdm" :request "launch" :name "test" :sim t :np 4 :stopOnEntry t))))
(test-await "stop at the entry" (lambda () (= test-stops 1)))
(dap-next (dap--cur-session))
(test-await "stop after a step" (lambda () (= test-stops 2)))
(dap-continue (dap--cur-session) (dap--debug-session-thread-id (dap--cur-session)))
(test-await "end" (lambda () test-over))
(message "ok")
;;; test.el ends here
